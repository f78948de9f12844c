/** The mails that would come, in their order, up to the end. */
import { Status } from '../../components/status.tsx';
import { Time } from '../../components/time.tsx';
import type { Seen } from './preview.tsx';

const RESULTS = {
  send: ['sent', 'good'],
  skip: ['skipped', 'neutral'],
  exit: ['leaves', 'warn'],
  route: ['other track', 'accent'],
} as const;

const ENDS: Readonly<Record<string, string>> = {
  completed: 'It is complete: nothing more comes.',
  condition: 'The contact leaves here, as the condition does not hold.',
  event: 'The contact leaves here, as an event ends the sequence for it.',
  no_steps: 'The sequence has no steps yet.',
  endless: 'It goes on for ever: its tracks lead in a circle.',
};

export function Timeline({ of: { timeline, end } }: { of: Seen }) {
  return (
    <ol class="timeline" aria-label="What comes">
      {timeline.map((entry) => {
        const [word, tone] = RESULTS[entry.result];
        return (
          <li key={`${entry.at} ${entry.key} ${entry.result}`} class={tone}>
            <p class="timeline-title">
              <span>
                {entry.subject ?? entry.key} <Status of={word} tone={tone} />
              </span>
              <Time at={entry.at} exact />
            </p>
            <p class="muted">
              Step {entry.key} in the track {entry.track}
              {entry.condition === 'always' ? '' : `, sent if ${entry.condition}`}.
            </p>
          </li>
        );
      })}
      <li class="next">
        <p class="timeline-title">
          <span>
            {end.error ?? ENDS[end.reason] ?? `The contact gets nothing: ${end.reason.replaceAll('_', ' ')}.`}
          </span>
          <Time at={end.at} exact />
        </p>
      </li>
    </ol>
  );
}
