/** The steps of a sequence in the editor: one below the other, moved by buttons. */
import { useEffect, useRef } from 'preact/hooks';
import type { Sequence, TemplateSummary } from '../../api.generated.ts';
import { Badge } from '../../components/badge.tsx';
import { Empty } from '../../components/empty.tsx';
import { Icon } from '../../components/icon.tsx';
import { useQuery } from '../../router.ts';
import { Said } from './said.tsx';
import { newStep, type StepDraft } from './step-draft.ts';
import { RunningStepEditor, StepEditor } from './step-editor.tsx';

interface StepsFieldProps {
  sequence: Sequence;
  steps: StepDraft[];
  /** Where each step stood when it was last handed over, by its uid: what the API said then is of that place. */
  places: ReadonlyMap<number, number>;
  templates: readonly TemplateSummary[];
  onChange(steps: StepDraft[]): void;
}

export function StepsField(props: StepsFieldProps) {
  const { sequence, steps, onChange } = props;
  const is_draft = sequence.status === 'draft';
  const add = (): void => {
    const step = newStep(steps);
    // The end of the track moves along.
    onChange([
      ...steps.map((each) => (each.track === step.track ? { ...each, is_final: false } : each)),
      step,
    ]);
  };
  return (
    <div class="step-list">
      {steps.length === 0 && (
        <div class="panel">
          <Empty title="No step yet">
            <p>A step is a mail: a marketing template, sent some time after the step before.</p>
          </Empty>
        </div>
      )}
      <ol class="step-list" aria-label="Steps">
        {steps.map((step, index) => (
          <StepItem key={step.uid} {...props} step={step} index={index} />
        ))}
      </ol>
      {is_draft && (
        <div>
          <button type="button" class="button" onClick={add}>
            <Icon name="plus" />
            Add a step
          </button>
        </div>
      )}
    </div>
  );
}

function StepItem(props: StepsFieldProps & { step: StepDraft; index: number }) {
  const { sequence, steps, places, templates, onChange, step, index } = props;
  const is_draft = sequence.status === 'draft';
  const name = `steps.${places.get(step.uid) ?? `new${step.uid}`}`;
  const item = useRef<HTMLLIElement>(null);
  const is_asked_for = useQuery().get('step') === step.key;
  useEffect(() => {
    if (is_asked_for) item.current?.querySelector<HTMLElement>('.step-fields .input')?.focus();
  }, []);
  const replace = (changed: StepDraft): void =>
    onChange(steps.map((each) => (each.uid === changed.uid ? changed : each)));
  const tracks = [...new Set(steps.map(({ track }) => track))];
  const part = { name, of: step, templates, tracks, onChange: replace };
  return (
    <li ref={item} class={`panel step-item${is_asked_for ? ' asked-for' : ''}`}>
      {/* Named as the API names the step, as what it says of the whole stands here. */}
      <fieldset name={name} aria-label={`Step ${step.key}`}>
        <div class="step-item-head">
          <h3>
            <span class="muted">{index + 1}.</span> {step.key || 'without a key'}
          </h3>
          {step.track !== '' && <Badge>{step.track}</Badge>}
          {is_draft && <Moves steps={steps} index={index} onChange={onChange} />}
        </div>
        <Said name={name} />
        {is_draft ? (
          <StepEditor {...part} />
        ) : (
          <RunningStepEditor {...part} condition={sequence.steps[index]?.condition_text ?? 'always'} />
        )}
      </fieldset>
    </li>
  );
}

function Moves({ steps, index, onChange }: Pick<StepsFieldProps, 'steps' | 'onChange'> & { index: number }) {
  const key = steps[index]?.key ?? '';
  const move = (by: number): void => {
    const moved = steps.slice();
    const [step] = moved.splice(index, 1);
    if (step) moved.splice(index + by, 0, step);
    onChange(moved);
  };
  return (
    <div class="actions">
      <button
        type="button"
        class="button quiet square"
        aria-label={`Move ${key} up`}
        disabled={index === 0}
        onClick={() => move(-1)}
      >
        <Icon name="up" />
      </button>
      <button
        type="button"
        class="button quiet square"
        aria-label={`Move ${key} down`}
        disabled={index === steps.length - 1}
        onClick={() => move(1)}
      >
        <Icon name="down" />
      </button>
      <button
        type="button"
        class="button quiet square"
        aria-label={`Remove ${key}`}
        onClick={() => onChange(steps.filter((_, at) => at !== index))}
      >
        <Icon name="close" />
      </button>
    </div>
  );
}
