/** The thread of report-reader.ts: reads one message after another. */
import { serve } from '../host/threads.ts';
import { readMailReport } from './mail-reports.ts';

serve((message: Uint8Array) => readMailReport(message));
