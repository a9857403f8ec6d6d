// Watches a dashboard as a person does: usage: dashboard.mjs URL, where axe-core and puppeteer-core are installed.
//
// Prints what is wrong, one a line: figures that do not change by themselves; requests to elsewhere; what the policy has blocked; a page wider than its window; what axe-core finds, running and paused; buttons
// that do nothing, with and without script, or lose the focus. The last button stops the crawl. Then `looked`; and when
// the dashboard is gone and the page says so, `lost`. With a folder as second argument, screenshots go there.
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const require = createRequire(join(process.cwd(), 'package.json'));
const puppeteer = require('puppeteer-core');
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const [, , url, screenshots] = process.argv;
const browser = await puppeteer.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });

async function open(prepare = async () => {}) {
  const page = await browser.newPage();
  page.on('request', request => request.url().startsWith(new URL(url).origin) || console.log('asks for', request.url()));
  page.on('console', message => message.type() === 'error' && /policy/i.test(message.text()) && console.log(message.text()));
  page.on('pageerror', error => console.log('script fails:', error.message));
  await prepare(page);
  await page.goto(url);
  if (page.isJavaScriptEnabled()) await page.waitForSelector('#recent tr');
  return page;
}

const text = () => document.getElementById('head').textContent;

const plain = await open(page => page.setJavaScriptEnabled(false));

const heading = page => page.evaluate(() => document.querySelector('h1').textContent);
const press = (page, label) => page.evaluate(label => {
  [...document.querySelectorAll('button')].find(button => button.textContent === label).click();
}, label);
const becomes = async (page, title, what) => {
  await page.waitForFunction(title => document.querySelector('h1')?.textContent === title, { timeout: 20000, polling: 100 }, title)
    .catch(async () => console.log(what, 'leaves it at', await heading(page)));
};

async function check(state) {
  for (const scheme of ['light', 'dark']) {
    for (const width of [1280, 390]) {
      const page = await open(async page => {
        await page.setBypassCSP(true);
        await page.setViewport({ width, height: 900 });
        await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
      });
      const wider = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      if (wider > 0) console.log(state, scheme, width, 'wider than the window by', wider);
      if (screenshots) await page.screenshot({ path: join(screenshots, `${state}-${scheme}-${width}.png`), fullPage: true });
      await page.evaluate(axe);
      const { violations } = await page.evaluate(() => {
        document.querySelectorAll('details').forEach(details => { details.open = true; });
        return axe.run(document, { resultTypes: ['violations'] });
      });
      for (const { id, impact, nodes } of violations) console.log(state, scheme, width, id, impact, nodes[0].html);
      await page.close();
    }
  }
}

await check('running');

const page = await open();
await page.evaluate(() => { window.isSame = true; document.querySelector('details').open = true; });
const before = await page.evaluate(text);
await page.waitForFunction(before => document.getElementById('head').textContent !== before, { timeout: 20000 }, before)
  .catch(() => console.log('the figures stay as they are'));
const stays = await page.evaluate(() => window.isSame && document.querySelector('details').open && document.getElementById('lost').hidden);
if (!stays) console.log('the page was loaded anew, folded up, or says that it is lost');

await press(page, 'Pause');
await becomes(page, 'Crawl paused', 'the pause button');
await check('paused');
await page.evaluate(() => { window.isSame = true; [...document.querySelectorAll('button')].find(button => button.textContent === 'Stop').focus(); });
await new Promise(resolve => setTimeout(resolve, 5000));
const focused = await page.evaluate(() => window.isSame && document.activeElement.textContent);
if (focused !== 'Stop') console.log('the focus has gone to', focused);

// Without script: a form is sent, and the answer leads back.
await plain.goto(url);
await Promise.all([plain.waitForNavigation(), press(plain, 'Resume')]);
await becomes(page, 'Crawl at work', 'resuming without script');
await Promise.all([plain.waitForNavigation(), press(plain, 'Stop')]).catch(error => console.log('without script, stop fails:', error.message));
await plain.close();
console.log('looked');
await page.waitForFunction(() => !document.getElementById('lost').hidden, { timeout: 60000 });
console.log('lost');
// A browser may be slow to end; that of a program that has ended is killed.
await Promise.race([browser.close(), new Promise(resolve => setTimeout(resolve, 10000))]);
process.exit();
