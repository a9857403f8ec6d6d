// Prints reports as people do, light and dark, and tells what is wrong: something wider than the paper, tools that paper
// does not have, folded text that is lost, white text on white paper. Nothing if all is well. Run where puppeteer-core is
// installed. SCREENSHOT_FOLDER keeps the PDF files and pictures of the screen.
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';

const require = createRequire(join(process.cwd(), 'package.json'));
const puppeteer = require('puppeteer-core');
const browser = await puppeteer.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });
const folder = process.env.SCREENSHOT_FOLDER;
// A4 at 96 dots an inch, without its margins.
const PAPER = { width: 718, height: 1047 };

for (const file of process.argv.slice(2)) {
  const name = basename(file, '.html');
  for (const scheme of ['light', 'dark']) {
    const page = await browser.newPage();
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
    await page.goto('file://' + file);
    for (const width of folder ? [1280, 390] : []) {
      await page.setViewport({ width, height: 900 });
      await page.screenshot({ path: join(folder, `${name}-${scheme}-${width}.png`), fullPage: true });
    }
    await page.setViewport(PAPER);
    await page.emulateMediaType('print');
    // The layout of paper is there two frames later.
    await page.evaluate(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))));
    const found = await page.evaluate(() => {
      const shown = selector => [...document.querySelectorAll(selector)].filter(one => one.checkVisibility()).length;
      const luminance = color => color.match(/[\d.]+/g).slice(0, 3).reduce((sum, part) => sum + Number(part), 0);
      const style = getComputedStyle(document.body);
      const lost = [...document.querySelectorAll('details > :not(summary)')].filter(one => !one.checkVisibility({ contentVisibilityAuto: true }));
      const faults = [];
      const wide = [...document.querySelectorAll('main *')].filter(one => one.getBoundingClientRect().right > window.innerWidth + 1 && one.checkVisibility());
      if (wide.length) faults.push('wider than the paper: ' + wide[0].tagName + ' ' + wide[0].textContent.slice(0, 60));
      if (shown('nav, .tools, input, select')) faults.push('tools are printed');
      if (lost.length) faults.push('folded text is lost: ' + lost[0].textContent.slice(0, 40));
      if (luminance(style.color) > 380) faults.push('the text is light: ' + style.color);
      return faults;
    });
    for (const fault of found) console.log(name, scheme, fault);
    const pdf = await page.pdf({ format: 'A4', printBackground: false, ...(folder && { path: join(folder, `${name}-${scheme}.pdf`) }) });
    if (pdf.length < 5000) console.log(name, scheme, 'an empty document');
    await page.close();
  }
}
await browser.close();
