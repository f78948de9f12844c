/** Debian's Chromium, without a window or with as little of one as can be: no test looks at it. */
import { type Browser, chromium } from 'playwright-core';
import { atEveryEnd } from './cleanup.ts';
import { part } from './parts.ts';

/** Decision: far more than a busy machine takes for a start. */
const LAUNCH_TIMEOUT_MS = 120_000;

/**
 * The suggestions below the address bar are two pages of their own in the window of each context, hidden and never asked: half
 * of all that a test in a browser takes.
 */
const UNUSED = ['WebUIOmniboxPopup', 'WebUIOmniboxAimPopup', 'WebUIOmniboxFullPopup'];

/** What Playwright turns off: of two such lists, Chromium takes the last alone. */
const OFF_BY_PLAYWRIGHT = [
  ...[
    'AvoidUnnecessaryBeforeUnloadCheckSync',
    'DestroyProfileOnBrowserClose',
    'HttpsUpgrades',
    'LensOverlay',
  ],
  ...['HttpsFirstBalancedModeAutoEnable', 'MediaRouter', 'PaintHolding', 'ThirdPartyStoragePartitioning'],
  ...['AvoidCorsURLLoaderRestartOnRedirect', 'OptimizationHints', 'NetworkTimeServiceQuerying', 'AimEnabled'],
  'PreconnectToSearch',
];

let browser: Promise<Browser> | null = null;

/**
 * The browser of this process, for tests that ask for `part('chromium')`: starting one takes longer than most tests in it.
 * Whatever was opened in it is closed after the tests of the file.
 */
export function openChromium(): Promise<Browser> {
  browser ??= launch();
  return browser;
}

/** Only a worker of `bun test --parallel` goes on to other files; nothing tells of its end. */
const STAYS = process.env.BUN_TEST_WORKER_ID !== undefined;

atEveryEnd(async () => {
  const opened = await browser;
  if (STAYS) await Promise.all((opened?.contexts() ?? []).map((context) => context.close()));
  else await opened?.close();
});

async function launch(): Promise<Browser> {
  // The same browser built without windows takes half as long to start and to open a page.
  const executable = part('chromium-headless-shell') ?? part('chromium');
  const launched = await chromium.launch({
    ...(executable === null ? {} : { executablePath: executable }),
    // Without a language it gives what is downloaded no name but one of ASCII.
    env: { ...process.env, LC_ALL: 'C.UTF-8' },
    args: ['--no-sandbox', `--disable-features=${[...OFF_BY_PLAYWRIGHT, ...UNUSED].join(',')}`],
    timeout: LAUNCH_TIMEOUT_MS,
  });
  launched.on('disconnected', () => {
    browser = null;
  });
  return launched;
}
