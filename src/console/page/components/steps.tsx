/** Something that goes in steps: those that are done, the one that is due, and those that follow. */
import type { ComponentChildren } from 'preact';
import { Icon } from './icon.tsx';

export interface Step {
  title: string;
  state: 'done' | 'now' | 'later';
  body?: ComponentChildren;
}

const TOLD = { done: 'done: ', now: 'due: ', later: '' } as const;

export function Steps({ label, of }: { label: string; of: readonly Step[] }) {
  return (
    <ol class="steps" aria-label={label}>
      {of.map(({ title, state, body }) => (
        <li key={title} class={state} aria-current={state === 'now' ? 'step' : undefined}>
          <span class="step-mark">{state === 'done' && <Icon name="check" size={12} />}</span>
          <div>
            <p class="step-title">
              <span class="hidden">{TOLD[state]}</span>
              {title}
            </p>
            {body}
          </div>
        </li>
      ))}
    </ol>
  );
}
