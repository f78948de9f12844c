/** The thread of report-reader.ts: reads one message after another. */
import { messageOf } from '../../errors.ts';
import type { ThreadReply } from '../host/bounded-thread.ts';
import { type MailReport, readMailReport } from './mail-reports.ts';

declare const self: Worker;

self.onmessage = ({ data }: MessageEvent<Uint8Array>) => {
  readMailReport(data)
    .then((result): ThreadReply<MailReport | null> => ({ result }))
    .catch((error: unknown): ThreadReply<MailReport | null> => ({ failure: messageOf(error) }))
    .then((reply) => self.postMessage(reply));
};
