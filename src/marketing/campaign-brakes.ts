/**
 * Brakes: how many bounces, complaints and refusals of ours pause a sequence or broadcast. Pure functions.
 */
import { BOUNCE_WINDOW_SENDS, REFUSALS_TO_PAUSE } from '../limits.ts';
import type { Ended } from './campaign-store.ts';
import type { Settings } from './settings/service.ts';

type Threshold = Pick<Settings, 'bounce_pause_threshold_percent'>;

export function returnsTooMuch(
  { sent, returned }: Ended['returned'],
  { bounce_pause_threshold_percent: percent }: Threshold,
): boolean {
  return sent >= BOUNCE_WINDOW_SENDS && (100 * returned) / sent > percent;
}

export function isRefusedTooMuch({ refused }: Pick<Ended['refused'], 'refused'>): boolean {
  return refused >= REFUSALS_TO_PAUSE;
}

/** Why sending paused by itself; `words` are what a mail server said that refused. */
export function explainBrake(
  reason: string | null,
  { returned: { sent, returned }, refused }: Ended,
  { bounce_pause_threshold_percent: percent }: Threshold,
  words: string | null,
): string {
  if (reason === 'relay_refuses') {
    const last = words === null ? '' : ` The last was told: ${words.replace(/\.?$/, '.')}`;
    return `of its last ${refused.ended} mails ${refused.refused} were refused because of the mailbox that they came from, not because of whom they were to.${last}`;
  }
  return `of its last ${sent} mails ${returned} bounced or were complained about, and bounce_pause_threshold_percent is ${percent}.`;
}
