/** A step as people say it, as it is being written: when it comes, on what condition, and what happens otherwise. */
import { CONDITION_TYPES, type ConditionDraft, type StepDraft } from './step-draft.ts';
import type { Track } from './tracks.ts';

export type CountsFrom = 'being enrolled' | 'coming to this track' | 'the mail before was sent';

/** What the delay of a step counts from. */
export function countsFrom(step: StepDraft, tracks: readonly Track<StepDraft>[]): CountsFrom {
  const index = tracks.findIndex(({ steps: [first] }) => first === step);
  if (index < 0) return 'the mail before was sent';
  return index === 0 ? 'being enrolled' : 'coming to this track';
}

/** "2 days after the mail before was sent", "At once after being enrolled". */
export function tellDelay({ delay, unit }: StepDraft, from: CountsFrom): string {
  const amount = delay.trim();
  if (amount === '' || Number(amount) === 0) return `At once after ${from}`;
  return `${amount} ${Number(amount) === 1 ? unit.slice(0, -1) : unit} after ${from}`;
}

/** The end of "Only if ..."; empty where there is no condition. */
export function tellCondition({ type, event, of }: ConditionDraft): string {
  if (type === 'always') return '';
  if (type === 'clicked' || type === 'not_clicked') return CONDITION_TYPES[type];
  if (type === 'event') return `${event || 'an event'} happened since being enrolled`;
  if (type === 'no_event') return `${event || 'an event'} did not happen since being enrolled`;
  return of
    .map(tellCondition)
    .filter((told) => told !== '')
    .join(', and ');
}

/** The end of "Otherwise ..." */
export function tellOtherwise({ otherwise, route_to }: StepDraft): string {
  if (otherwise === 'skip') return 'this mail is skipped';
  return otherwise === 'exit' ? 'they leave the sequence' : `they go on in the track ${route_to || '…'}`;
}
