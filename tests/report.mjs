// Uses a report as people do: sorts and filters a table, follows a box of the map, opens a cluster with its diff, turns
// the pages of clusters. Prints what does not work; nothing if all does. Run where puppeteer-core is installed.
import { createRequire } from 'node:module';
import { join } from 'node:path';

const require = createRequire(join(process.cwd(), 'package.json'));
const puppeteer = require('puppeteer-core');
const browser = await puppeteer.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });
const expect = (holds, what) => { if (!holds) console.log(what); };
const report = 'file://' + process.argv[2];

for (const width of [1280, 390]) {
  const page = await browser.newPage();
  await page.setViewport({ width, height: 900 });
  page.on('dialog', async dialog => { console.log('a dialog opened:', dialog.message()); await dialog.dismiss(); });
  page.on('pageerror', error => console.log('script error:', error.message));
  page.on('console', message => { if (message.type() === 'error') console.log('console:', message.text()); });
  page.on('request', request => expect(request.url().startsWith('file://'), 'asked for ' + request.url()));
  await page.goto(report);

  // A long table shows its first rows, a filter searches all of them, and a button shows the rest.
  const few = width > 640 ? 10 : 3;
  for (const table of await page.$$('.data')) {
    const folded = await table.evaluate(box => {
      const shown = () => [...box.querySelectorAll('tbody tr')].filter(row => !row.hidden).length;
      const all = box.querySelectorAll('tbody tr').length;
      const field = box.querySelector('input[type=search]');
      const before = shown();
      let last = 1;
      if (field) {
        field.value = box.querySelector('tbody tr:last-child').textContent;
        field.dispatchEvent(new Event('input'));
        last = shown();
        field.value = '';
        field.dispatchEvent(new Event('input'));
      }
      box.querySelector(':scope > button:not([hidden])')?.click();
      return { all, before, last, after: shown() };
    });
    expect(folded.before === (folded.all > few + 2 ? few : folded.all) && folded.last > 0 && folded.after === folded.all, width + ' fold: ' + JSON.stringify(folded));
  }

  // A click on a heading sorts numbers from the largest down, a second one the other way.
  const counts = () => page.$$eval('#map ~ .data:last-of-type, section[aria-labelledby=map] .data', boxes =>
    [...boxes[0].querySelectorAll('tbody tr')].map(row => Number(row.cells[2].textContent.replaceAll(',', ''))));
  const sortBy = (column, times) => page.$eval('section[aria-labelledby=map] .data', (box, column, times) => {
    const choice = box.querySelector('select');
    const button = box.querySelectorAll('thead button')[column];
    for (let time = 0; time < times; time++) {
      if (button.offsetParent !== null) button.click();
      else { choice.value = String(column); choice.dispatchEvent(new Event('change')); }
    }
  }, column, times);
  await sortBy(2, 1);
  const down = await counts();
  expect(down.length > 1 && down.every((count, place) => place === 0 || down[place - 1] >= count), width + ' not sorted: ' + down);
  if (width > 640) {
    await sortBy(2, 1);
    const up = await counts();
    expect(up.every((count, place) => place === 0 || up[place - 1] <= count), width + ' not sorted the other way: ' + up);
  }

  // A filter leaves the rows that have the text.
  const filtered = await page.$eval('section[aria-labelledby=map] .data', box => {
    const field = box.querySelector('input[type=search]');
    if (!field) return null;
    const wanted = box.querySelector('tbody tr:last-child').cells[0].textContent;
    field.value = wanted;
    field.dispatchEvent(new Event('input'));
    const shown = [...box.querySelectorAll('tbody tr')].filter(row => row.offsetParent !== null || row.getClientRects().length);
    return { wanted, rows: shown.map(row => row.textContent), said: box.querySelector('[role=status]').textContent };
  });
  if (filtered) {
    expect(filtered.rows.length > 0 && filtered.rows.every(row => row.includes(filtered.wanted)), width + ' filter: ' + JSON.stringify(filtered));
    expect(/^\d+ of \d+ rows$/.test(filtered.said), width + ' filter says ' + filtered.said);
  }

  // A box of the map leads to its row.
  const box = await page.$eval('.map a', link => ({ href: link.getAttribute('href'), height: link.getBoundingClientRect().height }));
  expect(box.height > 20 && await page.$(box.href) !== null, width + ' the map leads nowhere: ' + box.href);

  // Clusters are pages with diffs, which lead to each other and back.
  const cluster = await page.$eval('section[aria-labelledby=clusters] tbody th a', link => link.href);
  await page.goto(cluster);
  const article = await page.$(new URL(cluster).hash);
  expect(article !== null, width + ' no cluster at ' + cluster);
  const diffs = await page.$$eval('article', articles => {
    document.querySelectorAll('details').forEach(details => { details.open = true; });
    return articles.map(article => article.querySelectorAll('table.diff del, table.diff ins').length);
  });
  expect(diffs.some(count => count > 0), width + ' no diff shows a difference');
  const next = await page.$$eval('nav.pages a', links => links.map(link => link.href));
  for (const href of next.slice(0, 2)) {
    await page.goto(href);
    expect(await page.$('article') !== null, width + ' no clusters on ' + href);
  }
  const back = await page.$eval('header a', link => link.href);
  expect(back === report, width + ' the way back leads to ' + back);
  await page.close();
}
// A browser may be slow to end; that of a program that has ended is killed.
await Promise.race([browser.close(), new Promise(resolve => setTimeout(resolve, 10000))]);
process.exit();
