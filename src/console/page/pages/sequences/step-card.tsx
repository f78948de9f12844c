/** A step in the picture: when it comes, if at all, and what became of its mails. */
import { useState } from 'preact/hooks';
import type { Sequence, Step } from '../../api.generated.ts';
import { Badge } from '../../components/badge.tsx';
import { Count, tellShare } from '../../components/quantity.tsx';
import { hrefOf, to } from '../../router.ts';
import { routeOf } from './step-draft.ts';
import { TestStep } from './test-step.tsx';
import { tellDelay } from './tracks.ts';

export function StepCard(props: { path: { project: string; sequence: string }; of: Sequence; step: Step }) {
  const { path, of, step } = props;
  const [is_testing, setTesting] = useState(false);
  const route = routeOf(step);
  return (
    <li class="step-card-place">
      <p class="step-delay">{tellDelay(step, of.steps)}</p>
      <article class="step-card" data-step={step.key} data-route={route ?? undefined}>
        <div class="step-card-head">
          <h3>{step.key}</h3>
          {step.is_final && <Badge>final</Badge>}
          <button
            type="button"
            class="button quiet small"
            aria-label={`Send a test of ${step.key}`}
            onClick={() => setTesting(true)}
          >
            Test
          </button>
        </div>
        <p class="step-template">
          <a href={hrefOf(to`/projects/${path.project}/templates/${step.template}`)}>{step.template}</a>
        </p>
        {step.condition_text !== 'always' && <p class="step-condition">Sent if {step.condition_text}.</p>}
        {of.status !== 'draft' && <Numbers of={of} step={step} />}
      </article>
      {is_testing && <TestStep path={path} step={step} onClose={() => setTesting(false)} />}
    </li>
  );
}

function Numbers({ of, step: { stats } }: { of: Sequence; step: Step }) {
  const ended = stats.sent + stats.lost;
  const numbers: [label: string, value: number, share: string][] = [
    ['under way', stats.active, ''],
    ['sent', stats.sent, ''],
    ...(stats.waiting > 0 ? [['waiting', stats.waiting, ''] as [string, number, string]] : []),
    ...(stats.lost > 0
      ? [['lost', stats.lost, tellShare(stats.lost, ended)] as [string, number, string]]
      : []),
    ['clicked', stats.clicked, tellShare(stats.clicked, stats.sent)],
    ...(of.track_opens || stats.opened > 0
      ? [['opened', stats.opened, tellShare(stats.opened, stats.sent)] as [string, number, string]]
      : []),
    ['bounced', stats.bounced, tellShare(stats.bounced, ended)],
    ['unsubscribed', stats.unsubscribed, tellShare(stats.unsubscribed, stats.sent)],
  ];
  return (
    <dl class="step-numbers">
      {numbers.map(([label, value, share]) => (
        <div key={label} class={value === 0 ? 'none' : label.replace(' ', '-')}>
          <dt>{label}</dt>
          <dd>
            <Count of={value} />
            {share && <span class="muted"> {share}</span>}
          </dd>
        </div>
      ))}
    </dl>
  );
}
