/** The benchmarks: runs the groups asked for and prints one table of ratios. Speed is judged here and in no test. */
import { measureApiMail } from './api-mail.ts';
import { measureBeside } from './beside.ts';
import { measureBroadcasts } from './broadcasts.ts';
import { measureClicks } from './clicks.ts';
import { measureConsole } from './console.ts';
import { measureContacts, measureImports } from './contacts.ts';
import { measureEmails } from './emails.ts';
import { cleanUp, limitGroup, type Row } from './harness.ts';
import { measureLists } from './lists.ts';
import { measureManagement } from './management.ts';
import { measurePeers } from './peers.ts';
import { measureSequences } from './sequences.ts';
import { measureStart } from './start.ts';
import { measureStore } from './store.ts';
import { measureSubmission } from './submission.ts';
import { measureUploads } from './uploads.ts';
import { measureVariants } from './variants.ts';

const GROUPS: Record<string, () => Promise<Row[]>> = {
  start: measureStart,
  uploads: measureUploads,
  peers: measurePeers,
  store: measureStore,
  variants: measureVariants,
  lists: measureLists,
  emails: measureEmails,
  'api-mail': measureApiMail,
  submission: measureSubmission,
  management: measureManagement,
  imports: measureImports,
  contacts: measureContacts,
  clicks: measureClicks,
  broadcasts: measureBroadcasts,
  beside: measureBeside,
  sequences: measureSequences,
  console: measureConsole,
};

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !(name in GROUPS));
if (unknown.length > 0) {
  process.stderr.write(
    `no benchmark named ${unknown.join(', ')}; there are ${Object.keys(GROUPS).join(', ')}\n`,
  );
  process.exit(2);
}

const rows: Row[] = [];
let failed = false;
try {
  for (const [name, measure] of Object.entries(GROUPS)) {
    if (asked.length > 0 && !asked.includes(name)) continue;
    process.stderr.write(`measuring ${name} ...\n`);
    try {
      rows.push(...(await limitGroup(name, measure())));
    } catch (error) {
      failed = true;
      process.stderr.write(
        `${name} could not be measured: ${error instanceof Error ? error.message : String(error)}\n`,
      );
    }
  }
} finally {
  await cleanUp();
}

const lines = [
  ['work', 'satchel', 'baseline', 'ratio', 'to reach', ''],
  ...rows.map((row) => [
    row.work,
    row.ours,
    row.baseline,
    row.ratio === null ? '-' : row.ratio.toFixed(2),
    row.target,
    row.is_met === null ? '' : row.is_met ? 'ok' : 'MISSED',
  ]),
];
const widths = (lines[0] ?? []).map((_, column) =>
  Math.max(...lines.map((line) => (line[column] ?? '').length)),
);
for (const line of lines)
  process.stdout.write(
    `${line
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd()}\n`,
  );
process.exit(failed ? 1 : 0);
