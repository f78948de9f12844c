/** Reading reports in a thread: what a message costs is paid there, within bounds, and the next one is read all the same. */
import { afterAll, afterEach, describe, expect, test } from 'bun:test';
import {
  createReportReader,
  type ReportReader,
  UnreadableReport,
} from '../../../src/platform/mail/report-reader.ts';
import { longestTurnMs } from '../../support/event-loop.ts';
import { HOSTILE } from '../../support/hostile-messages.ts';
import { readSample } from '../../support/mail-reports.ts';

const SAMPLE = Buffer.from(readSample('postfix-unknown-user'), 'latin1');
const BOUNCED = { recipients: [{ kind: 'bounced' }] };

let readers: ReportReader[] = [];
afterEach(() => {
  for (const reader of readers) reader.stop();
  readers = [];
});

/** Whose first threads do what is given, and whose others read. */
function start(...first: string[]): ReportReader {
  const code = [...first];
  const reader = createReportReader({
    cpu_ms: 500,
    startWorker() {
      const next = code.shift();
      const url = new URL('../../../src/platform/mail/report-reader.worker.ts', import.meta.url);
      return new Worker(next === undefined ? url : URL.createObjectURL(new Blob([next])));
    },
  });
  readers.push(reader);
  return reader;
}

/** What it came to, as `expect(...).rejects` would hold the event loop. */
const outcomeOf = (read: Promise<unknown>): Promise<unknown> => read.catch((error: unknown) => error);

test('a report comes back as it was read, and null for what is none', async () => {
  const reader = start();
  const [report, none] = await Promise.all([reader.read(SAMPLE), reader.read(Buffer.from('hello'))]);
  expect(report).toMatchObject(BOUNCED);
  expect(report?.returned_headers).toMatch(/\r\nDKIM-Signature: v=1;/);
  expect(none).toBeNull();
});

test('a thread that goes on and on is ended, nobody waits for it meanwhile, and the next message is read', async () => {
  const reader = start('onmessage = () => { for (;;); }');
  let [hopeless, next]: unknown[] = [];
  const turn_ms = await longestTurnMs(async () => {
    [hopeless, next] = await Promise.all([outcomeOf(reader.read(SAMPLE)), reader.read(SAMPLE)]);
  });
  expect(hopeless).toBeInstanceOf(UnreadableReport);
  expect(String(hopeless)).toContain('it took more than 0.5 s of processor time');
  expect(next).toMatchObject(BOUNCED);
  expect(turn_ms).toBeLessThan(100);
});

test('a thread that throws or ends fails its message alone', async () => {
  const reader = start('onmessage = () => { throw new Error("odd"); }', 'onmessage = () => process.exit(1)');
  for (let n = 0; n < 2; n += 1)
    expect(await outcomeOf(reader.read(SAMPLE))).toBeInstanceOf(UnreadableReport);
  expect(await reader.read(SAMPLE)).toMatchObject(BOUNCED);
});

test('a stop ends what is read, and what waits, as something that may pass', async () => {
  const reader = start('onmessage = () => { for (;;); }');
  const reads = [outcomeOf(reader.read(SAMPLE)), outcomeOf(reader.read(SAMPLE))];
  await Bun.sleep(50);
  reader.stop();
  for (const read of reads) expect(await read).toMatchObject({ kind: 'unavailable' });
});

describe('a hostile message ends soon and harmlessly, and keeps nobody waiting:', () => {
  const reader = createReportReader();
  afterAll(() => reader.stop());

  for (const [name, text] of Object.entries(HOSTILE))
    test(name, async () => {
      let outcome: unknown;
      const turn_ms = await longestTurnMs(async () => {
        outcome = await outcomeOf(reader.read(Buffer.from(text, 'latin1')));
      });
      // No thread had to be ended for it.
      expect(outcome).not.toBeInstanceOf(Error);
      expect(turn_ms).toBeLessThan(100);
    });

  test('reports of which pieces are cut out, doubled and changed by chance', async () => {
    const random = randomFrom(20_261_122);
    const samples = SAMPLES.map(readSample);
    for (let n = 0; n < 200; n += 1) {
      const pieces = (samples[n % samples.length] ?? '').split(/(?<=\n)/);
      for (let change = 0; change < 8; change += 1) {
        const [from, to] = [random(pieces.length), random(pieces.length)];
        const piece = pieces[from] ?? '';
        const changed = [
          [],
          [piece, piece],
          [piece.slice(0, random(piece.length + 1)), String.fromCharCode(random(256)), piece],
        ];
        pieces.splice(to, 1, ...(changed[random(changed.length)] ?? []));
      }
      const outcome = await outcomeOf(reader.read(Buffer.from(pieces.join(''), 'latin1')));
      expect(outcome).not.toBeInstanceOf(Error);
    }
  });
});

const SAMPLES = ['postfix-unknown-user', 'postfix-headers-only', 'exim-unknown-user', 'arf-abuse'];

/** Whole numbers below a bound, the same ones each time (a linear congruential generator). */
function randomFrom(seed: number): (bound: number) => number {
  let state = seed;
  return (bound) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((state / 2 ** 31) * bound);
  };
}
