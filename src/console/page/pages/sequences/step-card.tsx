/** A step in the picture: when it comes, if at all, what became of its mails; and, in place, what one may change of it. */
import { useEffect, useRef } from 'preact/hooks';
import type { Sequence, Step, TemplateSummary } from '../../api.generated.ts';
import { useFieldErrors } from '../../components/form.tsx';
import { Icon } from '../../components/icon.tsx';
import { Count, tellShare } from '../../components/quantity.tsx';
import { hrefOf, to, useQuery } from '../../router.ts';
import { BLANK } from '../writing/own-words.ts';
import { Said } from './condition-field.tsx';
import type { StepDraft, Track } from './step-draft.ts';
import { countsFrom, StepFields, tellCondition, tellDelay, tellOtherwise } from './step-fields.tsx';

interface StepCardProps {
  project: string;
  of: Sequence;
  step: StepDraft;
  tracks: readonly Track<StepDraft>[];
  templates: readonly TemplateSummary[];
  /** The API's for this step, in what it refuses. */
  name: string;
  /** It was just added, or brought here: its fields are open, and have the focus. */
  is_shown: boolean;
  onChange(change: Partial<StepDraft>): void;
  onAddBefore(): void;
  onMove(by: 1 | -1): void;
  onRemove(): void;
  onTest(step: Step): void;
}

export function StepCard(props: StepCardProps) {
  const { project, of, step, tracks, templates, name, is_shown, onChange, onAddBefore, onTest } = props;
  const is_draft = of.status === 'draft';
  const details = useRef<HTMLDetailsElement>(null);
  const is_asked_for = useQuery().get('step') === step.key;
  const is_refused = useFieldErrors(name).length > 0;
  useEffect(() => {
    if (!details.current || !(is_shown || is_asked_for)) return;
    details.current.open = true;
    details.current.querySelector<HTMLElement>('.input')?.focus();
  }, [is_asked_for]);
  useEffect(() => {
    if (is_refused && details.current) details.current.open = true;
  }, [is_refused]);
  const saved = of.steps.find(({ key }) => key === step.key);
  const condition = tellCondition(step.condition);
  const from = countsFrom(step, tracks);
  const { subject, has_draft } = templates.find(({ slug }) => slug === step.template) ?? {};
  return (
    <li>
      <div class="step-delay">
        <p>{tellDelay(step, from)}</p>
        {is_draft && (
          <button
            type="button"
            class="button quiet small square"
            aria-label={`Add a step before ${step.key}`}
            onClick={onAddBefore}
          >
            <Icon name="plus" size={14} />
          </button>
        )}
      </div>
      {/* Named as the API names the step, as what it says of the whole stands here. */}
      <fieldset class="step-card" data-step={step.key} name={name} aria-label={`Step ${step.key}`}>
        <div class="step-card-head">
          <h3>{step.key || 'without a key'}</h3>
          {is_draft && <Moves {...props} />}
        </div>
        <Said name={name} />
        <p>
          {saved && of.status !== 'finished' && step.template !== BLANK ? (
            <a href={hrefOf(to`/projects/${project}/sequences/${of.id}/steps/${saved.key}/write`)}>
              {subject ?? 'Write the mail'}
            </a>
          ) : (
            <span class="muted">{subject ?? 'Save the steps, then write its mail.'}</span>
          )}
          {has_draft && <span class="muted"> (with a draft that is not published)</span>}
        </p>
        {condition !== '' && (
          <p class="muted">
            Only if {condition}. Otherwise {tellOtherwise(step)}.
          </p>
        )}
        {saved && <Numbers of={of} step={saved} />}
        <div class="step-card-foot">
          {saved && (
            <button
              type="button"
              class="button quiet small"
              aria-label={`Send a test of ${step.key}`}
              aria-haspopup="dialog"
              onClick={() => onTest(saved)}
            >
              Test
            </button>
          )}
          {of.status !== 'finished' && (
            <details ref={details}>
              <summary class="button quiet small" aria-label={`Edit ${step.key}`}>
                Edit
              </summary>
              <StepFields
                name={name}
                of={step}
                is_draft={is_draft}
                from={from}
                templates={templates}
                tracks={tracks.map((track) => track.name)}
                onChange={onChange}
              />
            </details>
          )}
        </div>
      </fieldset>
    </li>
  );
}

function Moves({ step, tracks, onMove, onRemove }: StepCardProps) {
  const own = tracks.find(({ name }) => name === step.track)?.steps ?? [];
  const index = own.indexOf(step);
  const buttons = useRef<HTMLDivElement>(null);
  const last_move = useRef<string | null>(null);
  // A browser takes the focus from what is moved: it goes back to the button, or to its neighbour at the end of the way.
  useEffect(() => {
    if (last_move.current === null) return;
    const all = [...(buttons.current?.querySelectorAll('button') ?? [])];
    const wanted = all.find((button) => button.name === last_move.current && !button.disabled);
    (wanted ?? all.find((button) => !button.disabled))?.focus();
    last_move.current = null;
  }, [index]);
  const acts = [
    { icon: 'up', label: `Move ${step.key} up`, is_out: index === 0, act: () => onMove(-1) },
    { icon: 'down', label: `Move ${step.key} down`, is_out: index === own.length - 1, act: () => onMove(1) },
    { icon: 'close', label: `Remove ${step.key}`, is_out: false, act: onRemove },
  ] as const;
  return (
    <div class="actions" ref={buttons}>
      {acts.map(({ icon, label, is_out, act }) => (
        <button
          key={icon}
          type="button"
          name={icon}
          class="button quiet small square"
          aria-label={label}
          disabled={is_out}
          onClick={() => {
            last_move.current = icon;
            act();
          }}
        >
          <Icon name={icon} />
        </button>
      ))}
    </div>
  );
}

function Numbers({ of, step: { stats } }: { of: Sequence; step: Step }) {
  const ended = stats.sent + stats.lost;
  const tracked = stats.sent - stats.untracked;
  const all: [label: string, value: number, whole: number, is_optional?: boolean][] = [
    ['under way', stats.active, 0],
    ['sent', stats.sent, 0],
    ['waiting', stats.waiting, 0, true],
    ['lost', stats.lost, ended, true],
    ['clicked', stats.clicked, tracked],
    ['answered', stats.replied, stats.sent, true],
    ['opened', stats.opened, tracked, !of.track_opens],
    ['by machines', stats.opened_by_machine, stats.sent, true],
    ['bounced', stats.bounced, ended],
    ['complaints', stats.complained, stats.sent, true],
    ['unsubscribed', stats.unsubscribed, stats.sent],
  ];
  return (
    <dl class="step-numbers">
      {all
        .filter(([, value, , is_optional]) => value > 0 || !is_optional)
        .map(([label, value, whole]) => (
          <div key={label} class={value === 0 ? 'none' : label.replace(' ', '-')}>
            <dt>{label}</dt>
            <dd>
              <Count of={value} />
              {whole > 0 && value > 0 && <span class="muted"> {tellShare(value, whole)}</span>}
            </dd>
          </div>
        ))}
    </dl>
  );
}
