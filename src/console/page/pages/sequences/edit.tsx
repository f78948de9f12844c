/** Writing a sequence: what it is, and its steps. One that runs allows less, and says so. */
import { useMemo, useState } from 'preact/hooks';
import type { Sequence } from '../../api.generated.ts';
import { call } from '../../api.ts';
import { Empty } from '../../components/empty.tsx';
import { type Entered, Form } from '../../components/form.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { Panel } from '../../components/panel.tsx';
import { Status } from '../../components/status.tsx';
import { toast } from '../../components/toast.tsx';
import type { PageProps } from '../../pages.ts';
import { hrefOf, navigate, to } from '../../router.ts';
import { useLoad } from '../../use-load.ts';
import { FirstFields, FurtherFields } from './sequence-fields.tsx';
import { readStep, type StepDraft, writeStep } from './step-draft.ts';
import { StepsField } from './steps-field.tsx';
import { tracksOf } from './tracks.ts';

export default function EditSequencePage({ params }: PageProps<'project' | 'sequence'>) {
  const load = useLoad('GET /projects/{project}/email-sequences/{sequence}', { path: params });
  const back = to`/projects/${params.project}/sequences/${params.sequence}`;
  return (
    <>
      <PageHeader
        title={load.data ? `Edit ${load.data.name}` : 'Edit the sequence'}
        back={{ href: hrefOf(back), label: load.data?.name ?? 'Sequence' }}
        beside={load.data && <Status of={load.data.status} />}
      />
      <Loaded load={load}>
        {(sequence) =>
          sequence.status === 'finished' ? (
            <div class="panel">
              <Empty title="A finished sequence does not change any more">
                <a href={hrefOf(back)}>Back to the sequence</a>
              </Empty>
            </div>
          ) : (
            <EditForm path={params} sequence={sequence} etag={load.etag} />
          )
        }
      </Loaded>
    </>
  );
}

interface EditFormProps {
  path: { project: string; sequence: string };
  sequence: Sequence;
  etag: string | null;
}

function EditForm({ path, sequence, etag }: EditFormProps) {
  const is_draft = sequence.status === 'draft';
  const templates = useLoad('GET /projects/{project}/email-templates', { path });
  // Of one that runs the order is part of what stays.
  const read = useMemo(
    () =>
      (is_draft ? tracksOf(sequence.steps).flatMap((track) => track.steps) : sequence.steps).map(readStep),
    [etag],
  );
  // Until one of them is touched, they are those that are there now.
  const [changed, setChanged] = useState<StepDraft[] | null>(null);
  const steps = changed ?? read;
  const [places, setPlaces] = useState<ReadonlyMap<number, number>>(new Map());
  const here = to`/projects/${path.project}/sequences/${path.sequence}`;
  const save = async (entered: Entered): Promise<void> => {
    setPlaces(new Map(steps.map(({ uid }, index) => [uid, index])));
    await call('PATCH /projects/{project}/email-sequences/{sequence}', {
      path,
      if_match: entered.version,
      body: {
        name: entered.text('name'),
        max_recipients: entered.numberOrNull('max_recipients') ?? 0,
        ...(is_draft && {
          list: entered.text('list'),
          enroll_tags: entered.words('enroll_tags'),
          auto_enroll_new_contacts: entered.flag('auto_enroll_new_contacts'),
          exit_events: entered.words('exit_events'),
        }),
        track_opens: entered.flag('track_opens'),
        steps: steps.map((step, index) => {
          const before = is_draft ? undefined : sequence.steps[index];
          return { ...writeStep(step), ...(before && { position: before.position }) };
        }),
      },
    });
    toast('The sequence is saved');
    navigate(here);
  };
  return (
    <div class="wide-form">
      <Form submit="Save the sequence" version={etag} onSubmit={save} onCancel={() => navigate(here)}>
        {!is_draft && (
          <div class="notice warn">
            <p>
              <strong>It runs.</strong> Its list, tags and events, and the keys, tracks, order, conditions and
              ends of its steps stay as they are: change them in a copy. What you change of a template or a
              variable holds for the next mail; a changed delay re-times who waits for it.
            </p>
          </div>
        )}
        <Panel title="The sequence">
          <div class="form">
            <FirstFields project={path.project} of={sequence} />
            <FurtherFields of={sequence} />
          </div>
        </Panel>
        <h2>Steps</h2>
        <StepsField
          sequence={sequence}
          steps={steps}
          places={places}
          templates={(templates.data?.data ?? []).filter(({ is_marketing }) => is_marketing)}
          onChange={setChanged}
        />
      </Form>
    </div>
  );
}
