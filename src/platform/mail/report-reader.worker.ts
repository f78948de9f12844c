/** The thread of report-reader.ts: reads one message after another. */
import { serve } from '../host/threads.ts';
import { readAggregateReports } from './aggregate-reports.ts';
import { readMailReply } from './mail-replies.ts';
import { readMailReport } from './mail-reports.ts';
import type { Reading, ToRead } from './report-reader.ts';

serve(async ({ as, message }: ToRead): Promise<Reading> => {
  if (as === 'aggregates') return { aggregates: await readAggregateReports(message) };
  if (as === 'reply') return { reply: await readMailReply(message) };
  return { report: await readMailReport(message) };
});
