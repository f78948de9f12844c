/** What is done about image variants by the clock. */
import type { CronEntry } from '../../platform/jobs/scheduler.ts';
import type { Variants } from './service.ts';

export function variantCronEntries({ variants }: { variants: Variants }): CronEntry[] {
  return [{ name: 'image variants', expression: '31 3 * * *', at_start: true, run: () => variants.sweep() }];
}
