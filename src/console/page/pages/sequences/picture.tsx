/**
 * A sequence as a picture, in which its steps are written, too: tracks side by side as lanes, steps as cards below one another,
 * and lines where a contact goes on in another track. Where it is narrow the lanes stand below one another, and the cards say in
 * words where the lines lead.
 */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Step } from '../../api.generated.ts';
import { call, reloadAll } from '../../api.ts';
import { type Entered, Form } from '../../components/form.tsx';
import { Icon } from '../../components/icon.tsx';
import { Empty } from '../../components/page.tsx';
import { toast } from '../../components/toast.tsx';
import { useLoad } from '../../use-load.ts';
import { TestDialog } from '../marketing/test-dialog.tsx';
import { BLANK, makeWords } from '../writing/own-words.ts';
import type { SequencePartProps } from './detail.tsx';
import { RouteLines } from './route-lines.tsx';
import { StepCard } from './step-card.tsx';
import { newStep, readSteps, routeOf, type StepDraft, tracksOf, writeStep } from './step-draft.ts';

export function Picture(props: SequencePartProps) {
  const [turn, setTurn] = useState(0);
  return <Steps key={turn} {...props} onCancel={() => setTurn(turn + 1)} />;
}

function Steps(props: SequencePartProps & { onCancel(): void }) {
  const { path, of, etag, onCancel } = props;
  const is_draft = of.status === 'draft';
  const [tested, setTested] = useState<Step | null>(null);
  // Until one of them is touched, they are those that are there now.
  const read = useMemo(() => readSteps(of.steps), [etag]);
  const [changed, setChanged] = useState<StepDraft[] | null>(null);
  const steps = changed ?? read;
  const is_saved = useRef(false);
  useEffect(() => {
    if (is_saved.current) setChanged(null);
  }, [etag]);
  const change = (next: StepDraft[]): void => {
    is_saved.current = false;
    setChanged(next);
  };
  // The place of each step when it was last sent, by its uid: the API's messages are of that place.
  const [places, setPlaces] = useState<ReadonlyMap<number, number>>(new Map());
  const save = async ({ version }: Entered): Promise<void> => {
    const tracks = tracksOf(steps);
    // One that runs keeps their order.
    const order = is_draft
      ? tracks.flatMap((track) => track.steps)
      : of.steps.flatMap(({ key }) => steps.filter((step) => step.key === key));
    const ends = new Set(tracks.map((track) => track.steps.at(-1)));
    setPlaces(new Map(order.map(({ uid }, index) => [uid, index])));
    const written = await makeWordsOf(order);
    await call('PATCH /projects/{project}/email-sequences/{sequence}', {
      path,
      if_match: version,
      body: {
        steps: written.map((step, index) => ({
          ...writeStep(step),
          is_final: is_draft ? ends.has(order[index]) : of.steps[index]?.is_final,
          position: is_draft ? index : of.steps[index]?.position,
        })),
      },
    });
    is_saved.current = true;
    toast('The steps are saved');
    reloadAll();
  };
  /** Those that have no words yet get their own, once, whatever is refused of the steps themselves. */
  const makeWordsOf = async (order: readonly StepDraft[]): Promise<StepDraft[]> => {
    const written: StepDraft[] = [];
    for (const step of order) {
      const name = `${of.name}: ${step.key.trim()}`;
      const template =
        step.template === BLANK ? await makeWords(path.project, { name, from: BLANK }) : step.template;
      written.push({ ...step, template });
    }
    if (order.some(({ template }) => template === BLANK))
      change(steps.map((step) => written.find(({ uid }) => uid === step.uid) ?? step));
    return written;
  };
  const lanes = <Lanes {...props} steps={steps} places={places} onSteps={change} onTest={setTested} />;
  return (
    <>
      {of.status === 'finished' ? (
        lanes
      ) : (
        <div class="wide-form">
          <Form submit="Save the steps" version={etag} onSubmit={save} onCancel={onCancel}>
            {!is_draft && (
              <p class="notice">
                It runs: words, variables and delays may change, the rest in a copy. Words and variables hold
                for the next mail; a changed delay re-times who waits for it.
              </p>
            )}
            {lanes}
          </Form>
        </div>
      )}
      {tested && <TestStep path={path} step={tested} onClose={() => setTested(null)} />}
    </>
  );
}

function Lanes(
  props: SequencePartProps & {
    steps: StepDraft[];
    places: ReadonlyMap<number, number>;
    onSteps(steps: StepDraft[]): void;
    onTest(step: Step): void;
  },
) {
  const { path, of, steps, places, onSteps, onTest } = props;
  const is_draft = of.status === 'draft';
  const templates = useLoad('GET /projects/{project}/email-templates', { path, query: { with_own: true } });
  const [shown, setShown] = useState(0);
  const [said, setSaid] = useState('');
  const frame = useRef<HTMLElement>(null);
  const picture = useRef<HTMLDivElement>(null);
  const routes = steps.flatMap((step) => {
    const track = routeOf(step);
    return track === null ? [] : [{ step: step.key, track }];
  });
  const tracks = tracksOf(steps);
  // A track that is only led to yet has its place already.
  for (const { track } of routes)
    if (!tracks.some(({ name }) => name === track)) tracks.push({ name: track, steps: [] });
  const add = (track: string, before?: StepDraft): void => {
    const step = newStep(steps, track);
    const behind = steps.findLastIndex((each) => each.track === track) + 1;
    setShown(step.uid);
    onSteps(steps.toSpliced(before ? steps.indexOf(before) : behind || steps.length, 0, step));
  };
  const edit = (step: StepDraft, change: Partial<StepDraft>): void => {
    const next = { ...step, ...change };
    // In another track it comes last.
    if (next.track !== step.track) {
      setShown(step.uid);
      onSteps([...steps.filter((each) => each !== step), next]);
    } else onSteps(steps.map((each) => (each === step ? next : each)));
  };
  const move = (step: StepDraft, by: 1 | -1): void => {
    const own = tracks.find(({ name }) => name === step.track)?.steps ?? [];
    const place = own.indexOf(step) + by;
    const other = own[place];
    if (!other) return;
    onSteps(steps.map((each) => (each === step ? other : each === other ? step : each)));
    setSaid(`${step.key} is now step ${place + 1} of ${own.length}`);
  };
  const remove = (step: StepDraft): void => {
    onSteps(steps.filter((each) => each !== step));
    setSaid(`${step.key} is removed`);
    frame.current?.focus();
  };
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard.
    <section class="tracks-wrap" aria-label="Steps" tabIndex={0} ref={frame}>
      {tracks.length === 0 && (
        <Empty drawing="mail" title="No step yet">
          <p>A step is a mail, sent some time after the step before.</p>
          {is_draft && <Add onClick={() => add('main')} />}
        </Empty>
      )}
      <div class={`tracks${routes.length > 0 ? ' has-routes' : ''}`} ref={picture}>
        <RouteLines
          picture={picture}
          routes={routes}
          tracks={tracks.map(({ name }) => name)}
          steps={steps.map(({ key }) => key)}
        />
        {tracks.map((track, index) => (
          <div key={track.name} class="lane">
            <LaneHead name={track.name} is_first={index === 0} routes={routes} />
            <ol aria-label={`Track ${track.name}`}>
              {track.steps.map((step) => (
                <StepCard
                  key={step.uid}
                  project={path.project}
                  of={of}
                  step={step}
                  tracks={tracks}
                  templates={(templates.data?.data ?? []).filter(({ is_marketing }) => is_marketing)}
                  name={`steps.${places.get(step.uid) ?? `new${step.uid}`}`}
                  is_shown={step.uid === shown}
                  onChange={(changes) => edit(step, changes)}
                  onAddBefore={() => add(track.name, step)}
                  onMove={(by) => move(step, by)}
                  onRemove={() => remove(step)}
                  onTest={onTest}
                />
              ))}
            </ol>
            <div class="step-delay">
              {is_draft && <Add onClick={() => add(track.name)} to={tracks.length > 1 ? track.name : ''} />}
              <p>{track.steps.length > 0 ? 'Then it is complete: nothing more comes.' : 'No step yet.'}</p>
            </div>
          </div>
        ))}
      </div>
      {tracks.length > 0 && (
        <p class="exits muted">
          Whoever unsubscribes, complains or bounces leaves at once, wherever they are
          {of.exit_events.length > 0 && `; so does everybody for whom ${of.exit_events.join(' or ')} happens`}
          .
        </p>
      )}
      <p class="hidden" role="status">
        {said}
      </p>
    </section>
  );
}

function Add({ to = '', onClick }: { to?: string; onClick(): void }) {
  return (
    <button type="button" class="button" onClick={onClick}>
      <Icon name="plus" />
      Add a step{to && ` to ${to}`}
    </button>
  );
}

function LaneHead(props: {
  name: string;
  is_first: boolean;
  routes: readonly { step: string; track: string }[];
}) {
  const { name, is_first, routes } = props;
  const sources = routes.filter(({ track }) => track === name).map(({ step }) => step);
  const is_reached = is_first || sources.length > 0;
  return (
    <div class="lane-head" data-lane={name}>
      <h2>{name}</h2>
      <p class={is_reached ? 'muted' : 'wrong'}>
        {is_first
          ? 'Everybody begins here'
          : is_reached
            ? `From ${sources.join(', ')}`
            : 'Nothing leads here'}
      </p>
    </div>
  );
}

/** Sending a step's mail to oneself. */
function TestStep(props: { path: { project: string; sequence: string }; step: Step; onClose(): void }) {
  const { path, step, onClose } = props;
  const send = (to: string) =>
    call('POST /projects/{project}/email-sequences/{sequence}/steps/{key}/test', {
      path: { ...path, key: step.key },
      body: { to },
    });
  return (
    <TestDialog project={path.project} title={`Send a test of ${step.key}`} send={send} onClose={onClose}>
      As it is saved, with sample values, and marked as a test in its subject. It goes out at once; nobody
      moves on, and nothing of it counts.
    </TestDialog>
  );
}
