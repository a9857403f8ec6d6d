// Prints what axe-core finds wrong with pages, light and dark, wide and narrow, and whether one asks for anything or is
// wider than the window; nothing if all is well. Run where axe-core and puppeteer-core are installed.
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const require = createRequire(join(process.cwd(), 'package.json'));
const puppeteer = require('puppeteer-core');
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const browser = await puppeteer.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });
for (const file of process.argv.slice(2)) {
  for (const scheme of ['light', 'dark']) {
    for (const width of [1280, 390]) {
      const page = await browser.newPage();
      await page.setBypassCSP(true);
      let requests = 0;
      page.on('request', () => requests++);
      await page.setViewport({ width, height: 900 });
      await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
      await page.goto('file://' + file);
      const wider = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      await page.evaluate(axe);
      const { violations } = await page.evaluate(() => {
        document.querySelectorAll('details').forEach(details => { details.open = true; });
        return axe.run(document, { resultTypes: ['violations'] });
      });
      for (const { id, impact, nodes } of violations) console.log(scheme, width, id, impact, nodes[0].html);
      if (wider > 0) console.log(scheme, width, 'wider than the window by', wider);
      if (requests !== 1) console.log(scheme, width, 'requests', requests);
      await page.close();
    }
  }
}
// A browser may be slow to end; that of a program that has ended is killed.
await Promise.race([browser.close(), new Promise(resolve => setTimeout(resolve, 10000))]);
process.exit();
