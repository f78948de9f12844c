/** `satchel marketing`: showing and changing the settings. */
import { beforeAll, expect, test } from 'bun:test';
import { run, runRecord } from '../../support/command.ts';
import { addCapturingMailbox } from '../../support/helpers.ts';
import { type MarketingApp, startMarketingApp } from './setup.ts';

let on: MarketingApp;
let dir = '';

beforeAll(async () => {
  on = await startMarketingApp();
  dir = on.app.data_dir;
});

const change = (...args: string[]) => run(dir, 'marketing', 'change', '--project', 'shop', ...args);

test('what is given is changed, and the rest stays; it says what mail still waits for', async () => {
  const first = await change(
    '--enabled',
    '--from-name',
    'Shop',
    '--window',
    '09:00-17:30',
    '--daily-cap',
    '50',
  );
  expect([first.exit, first.stdout]).toEqual([
    0,
    'Changed for shop: enabled, from_name, daily_cap, send_window_start, send_window_end.\n' +
      'No marketing mail goes out: that takes the marketing settings to have a postal_address.\n',
  ]);
  expect((await change('--postal-address', '1 High Street')).stdout).toContain('has no usable mailbox');
  await addCapturingMailbox(on.app);
  await run(dir, 'mailbox', 'change', 'shop@mail.example.com', '--for', 'marketing,transactional');
  const cleared = await change('--window', 'always', '--daily-cap', 'none', '--from-name', 'The shop');
  expect(cleared.stdout).toEndWith('All of its mailboxes capture: nobody gets its mail.\n');
  const record = await runRecord(dir, 'marketing', 'show', '--project', 'shop');
  expect(record).toMatchObject({
    ...{ enabled: true, from_name: 'The shop', postal_address: '1 High Street' },
    ...{ send_window_start: null, daily_cap: null },
  });
  expect((await change('--postal-address', '', '--no-enabled')).stdout).toContain('marketing to be enabled');
});

test('what does not fit is told at once, by the names of the options, and nothing changes', async () => {
  const before = await runRecord(dir, 'marketing', 'show', '--project', 'shop');
  const wrong = await change(
    ...['--brand-color', 'red', '--brand-logo', 'http://x', '--reply-to', 'x', '--timezone', 'Mars'],
    ...[
      '--window',
      '09:00-25:00',
      '--bounce-threshold',
      'x',
      '--accounts',
      'a@b.example',
      '--from-name',
      'x',
    ],
  );
  expect(wrong.exit).toBe(1);
  for (const option of ['brand-color', 'brand-logo', 'reply-to', 'timezone', 'window', 'bounce-threshold'])
    expect(wrong.stderr).toContain(`--${option} must`);
  expect(wrong.stderr).toContain('--accounts');
  expect(await runRecord(dir, 'marketing', 'show', '--project', 'shop')).toEqual(before);
  expect((await change()).exit).toBe(2);
  expect((await change('--window', 'nine')).exit).toBe(2);
});
