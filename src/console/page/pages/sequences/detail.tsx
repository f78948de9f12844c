/** One sequence: as a picture in which it is written, who is in it, what somebody would see of it, its settings and its end. */
import type { Sequence } from '../../api.generated.ts';
import { call } from '../../api.ts';
import { mayWrite } from '../../capabilities.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { ButtonLink } from '../../components/button-link.tsx';
import { Loaded, PageHeader } from '../../components/page.tsx';
import { Badge, Status } from '../../components/status.tsx';
import { Tabs, useTab } from '../../components/tabs.tsx';
import { toast } from '../../components/toast.tsx';
import type { PageProps } from '../../pages.ts';
import { hrefOf, navigate, to } from '../../router.ts';
import { useLoad } from '../../use-load.ts';
import { Enroll } from './enroll.tsx';
import { Enrollments } from './enrollments.tsx';
import { Picture } from './picture.tsx';
import { Preview } from './preview.tsx';
import { Settings } from './settings.tsx';
import { Standing } from './standing.tsx';
import { Totals } from './totals.tsx';

const TABS = {
  steps: 'Steps',
  enrollments: 'Enrollments',
  preview: 'Preview',
  settings: 'Settings',
} as const;

export default function SequencePage({ params }: PageProps<'project' | 'sequence'>) {
  const load = useLoad(
    'GET /projects/{project}/email-sequences/{sequence}',
    { path: params },
    { looks_again: true },
  );
  const tab = useTab(['steps', 'enrollments', 'preview', 'settings']);
  const sequence = load.data;
  const { etag, reload: onChange } = load;
  return (
    <>
      <PageHeader
        title={sequence?.name ?? 'Sequence'}
        back={{ href: hrefOf(to`/projects/${params.project}/sequences`), label: 'Sequences' }}
        beside={
          sequence && (
            <span class="badges">
              <Status of={sequence.status} />
              {sequence.pause_reason === 'bounce_threshold' && <Badge tone="bad">by itself: bounces</Badge>}
              {sequence.pause_reason === 'relay_refuses' && (
                <Badge tone="bad">by itself: relay refuses</Badge>
              )}
            </span>
          )
        }
        actions={sequence && <Acts path={params} of={sequence} etag={etag} onChange={onChange} />}
      />
      <Tabs tabs={TABS} now={tab} />
      <Loaded load={load}>
        {(of) => {
          const loaded = { path: params, of, etag, onChange };
          return (
            <div class="stack">
              {tab === 'steps' && <Standing {...loaded} />}
              {tab === 'steps' && of.status !== 'draft' && <Totals {...loaded} />}
              {tab === 'steps' && <Picture {...loaded} />}
              {tab === 'enrollments' && <Enroll path={params} of={of} />}
              {tab === 'enrollments' && <Enrollments {...loaded} />}
              {tab === 'preview' && <Preview {...loaded} />}
              {tab === 'settings' && <Settings {...loaded} />}
            </div>
          );
        }}
      </Loaded>
    </>
  );
}

function Acts({ path, of, onChange }: SequencePartProps) {
  const here = to`/projects/${path.project}/sequences/${path.sequence}`;
  const pause = async (): Promise<void> => {
    await call('POST /projects/{project}/email-sequences/{sequence}/pause', { path });
    onChange();
  };
  const resume = async (): Promise<void> => {
    await call('POST /projects/{project}/email-sequences/{sequence}/resume', { path });
    onChange();
  };
  const copy = async (): Promise<void> => {
    const made = await call('POST /projects/{project}/email-sequences/{sequence}/copy', { path });
    toast(`The draft ${made.name} is made`);
    navigate(to`/projects/${path.project}/sequences/${made.id}`);
  };
  const runs = of.status === 'active' || of.status === 'paused';
  return (
    <>
      {of.status === 'active' && (
        <ActionButton act={pause} done="Paused: nothing is sent until it is resumed">
          Pause
        </ActionButton>
      )}
      {of.status === 'paused' && (
        <ActionButton act={resume} done="It goes on: what fell due meanwhile is sent now">
          Resume
        </ActionButton>
      )}
      <ActionButton act={copy}>Copy</ActionButton>
      {runs && mayWrite() && (
        <ButtonLink kind="primary" href={`${hrefOf(here)}?tab=enrollments`}>
          Enroll
        </ButtonLink>
      )}
    </>
  );
}

/** The props of each part of a sequence's page. */
export interface SequencePartProps {
  path: { project: string; sequence: string };
  of: Sequence;
  /** The version of it, for a change. */
  etag: string | null;
  /** The sequence is another one now: it is to be loaded again. */
  onChange(): void;
}
