/** The thread of report-reader.ts: reads one message after another. */
import { messageOf } from '../../errors.ts';
import { readMailReport } from './mail-reports.ts';
import type { ReportReply } from './report-reader.ts';

declare const self: Worker;

self.onmessage = ({ data }: MessageEvent<Uint8Array>) => {
  readMailReport(data)
    .then((report): ReportReply => ({ report }))
    .catch((error: unknown): ReportReply => ({ failure: messageOf(error) }))
    .then((reply) => self.postMessage(reply));
};
