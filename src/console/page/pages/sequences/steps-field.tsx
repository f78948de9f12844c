/** The steps of a sequence in the editor: one below the other, moved by buttons. */
import { useEffect, useRef, useState } from 'preact/hooks';
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
  const [added, setAdded] = useState<number | null>(null);
  const [said, setSaid] = useState('');
  const add = (): void => {
    const step = newStep(steps);
    setAdded(step.uid);
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
          <StepItem
            key={step.uid}
            {...props}
            step={step}
            index={index}
            is_new={step.uid === added}
            onSay={setSaid}
          />
        ))}
      </ol>
      <p class="hidden" role="status">
        {said}
      </p>
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

interface StepItemProps extends StepsFieldProps {
  step: StepDraft;
  index: number;
  is_new: boolean;
  /** Tells those who do not see the page what became of the order. */
  onSay(said: string): void;
}

function StepItem(props: StepItemProps) {
  const { sequence, steps, places, templates, onChange, step, index, is_new, onSay } = props;
  const is_draft = sequence.status === 'draft';
  const name = `steps.${places.get(step.uid) ?? `new${step.uid}`}`;
  const item = useRef<HTMLLIElement>(null);
  const is_asked_for = useQuery().get('step') === step.key;
  useEffect(() => {
    if (is_asked_for || is_new) item.current?.querySelector<HTMLElement>('.step-fields .input')?.focus();
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
          {is_draft && <Moves steps={steps} index={index} onChange={onChange} onSay={onSay} />}
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

function Moves(props: Pick<StepItemProps, 'steps' | 'index' | 'onChange' | 'onSay'>) {
  const { steps, index, onChange, onSay } = props;
  const key = steps[index]?.key ?? '';
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
  const move = (by: 1 | -1): void => {
    const moved = steps.slice();
    const [step] = moved.splice(index, 1);
    if (step) moved.splice(index + by, 0, step);
    last_move.current = by === 1 ? 'down' : 'up';
    onChange(moved);
    onSay(`${key} is now step ${index + by + 1} of ${steps.length}`);
  };
  const remove = (): void => {
    onChange(steps.filter((_, at) => at !== index));
    onSay(`${key} is removed`);
  };
  return (
    <div class="actions" ref={buttons}>
      <button
        type="button"
        name="up"
        class="button quiet square"
        aria-label={`Move ${key} up`}
        disabled={index === 0}
        onClick={() => move(-1)}
      >
        <Icon name="up" />
      </button>
      <button
        type="button"
        name="down"
        class="button quiet square"
        aria-label={`Move ${key} down`}
        disabled={index === steps.length - 1}
        onClick={() => move(1)}
      >
        <Icon name="down" />
      </button>
      <button type="button" class="button quiet square" aria-label={`Remove ${key}`} onClick={remove}>
        <Icon name="close" />
      </button>
    </div>
  );
}
