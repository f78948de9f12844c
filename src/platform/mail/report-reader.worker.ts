/** The thread of report-reader.ts: reads one message after another. */
import { messageOf } from '../../errors.ts';
import type { ThreadReply } from '../host/bounded-thread.ts';
import { readMailReply } from './mail-replies.ts';
import { readMailReport } from './mail-reports.ts';
import type { Reading, ToRead } from './report-reader.ts';

declare const self: Worker;

self.onmessage = ({ data }: MessageEvent<ToRead>) => {
  read(data)
    .then((result): ThreadReply<Reading> => ({ result }))
    .catch((error: unknown): ThreadReply<Reading> => ({ failure: messageOf(error) }))
    .then((reply) => self.postMessage(reply));
};

async function read({ as, message }: ToRead): Promise<Reading> {
  if (as === 'reply') return { reply: await readMailReply(message) };
  return { report: await readMailReport(message) };
}
