/** One broadcast: before it goes out its mail, whom it reaches and sending it; then what becomes of it, and of each of its people. */
import { call } from '../../api.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { askFirst } from '../../components/ask-first.tsx';
import { ButtonLink } from '../../components/button-link.tsx';
import { Loaded, PageHeader } from '../../components/page.tsx';
import { counted } from '../../components/quantity.tsx';
import { Tabs, useTab } from '../../components/tabs.tsx';
import { toast } from '../../components/toast.tsx';
import type { PageProps } from '../../pages.ts';
import { hrefOf, navigate, to } from '../../router.ts';
import { useLoad } from '../../use-load.ts';
import { AbResults } from './ab-results.tsx';
import { About } from './about.tsx';
import { BeforeItGoes } from './before-it-goes.tsx';
import { Mail } from './mail.tsx';
import { askAboutBroadcast, type BroadcastPartProps, BroadcastStatus, isPlanned } from './part.tsx';
import { Paused } from './paused.tsx';
import { Recipients } from './recipients.tsx';
import { Timeline } from './timeline.tsx';
import { Links, Totals } from './totals.tsx';

const PLAN = { overview: 'Overview', about: 'About' } as const;
const TABS = { overview: 'Overview', recipients: 'Recipients', mail: 'Mail', about: 'About' } as const;
/** A number that moves may be this old. */
const REFRESH_MS = 3000;

export default function BroadcastPage({ params }: PageProps<'project' | 'broadcast'>) {
  const load = useLoad(
    'GET /projects/{project}/email-broadcasts/{broadcast}',
    { path: params },
    {
      every_ms: ({ status }) => (['sending', 'testing'].includes(status) ? REFRESH_MS : null),
      looks_again: true,
    },
  );
  const tab = useTab(['overview', 'recipients', 'mail', 'about']);
  const broadcast = load.data;
  const part = broadcast && { path: params, of: broadcast, onChange: load.reload };
  return (
    <>
      <PageHeader
        title={broadcast?.name ?? 'Broadcast'}
        back={{ href: hrefOf(to`/projects/${params.project}/broadcasts`), label: 'Broadcasts' }}
        beside={broadcast && <BroadcastStatus of={broadcast} />}
        actions={part && <Acts {...part} />}
      />
      <Tabs<string> tabs={broadcast && !isPlanned(broadcast) ? TABS : PLAN} now={tab} />
      <Loaded load={load}>
        {(of) => {
          const loaded = { path: params, of, onChange: load.reload };
          return (
            <div class="stack">
              {tab === 'overview' && <Overview {...loaded} />}
              {tab === 'recipients' && <Recipients {...loaded} />}
              {tab === 'mail' && <Mail {...loaded} />}
              {tab === 'about' && <About {...loaded} />}
            </div>
          );
        }}
      </Loaded>
    </>
  );
}

function Overview(props: BroadcastPartProps) {
  const { of } = props;
  if (isPlanned(of)) return <BeforeItGoes {...props} />;
  return (
    <>
      {of.is_test && (
        <p class="notice">
          A test key sent it: its mail was captured, nobody got it, and nothing is counted.
        </p>
      )}
      {of.status === 'paused' && <Paused {...props} />}
      <Totals {...props} />
      <AbResults {...props} />
      {of.started_at !== null && <Timeline {...props} />}
      {of.started_at !== null && <Links of={of} />}
    </>
  );
}

function Acts(props: BroadcastPartProps) {
  const { path, of, onChange } = props;
  const pause = async (): Promise<void> => {
    await call('POST /projects/{project}/email-broadcasts/{broadcast}/pause', { path });
    onChange();
  };
  const resume = async (): Promise<void> => {
    const now = await call('POST /projects/{project}/email-broadcasts/{broadcast}/resume', { path });
    onChange();
    if (now.status === 'paused') throw new Error('It cannot go on yet: see what is missing.');
    toast('It goes on');
  };
  const copy = async (): Promise<void> => {
    await askAboutBroadcast(path.project, `${of.name} (copy)`);
    const made = await call('POST /projects/{project}/email-broadcasts/{broadcast}/copy', { path });
    toast(`The draft ${made.name} is made`);
    navigate(to`/projects/${path.project}/broadcasts/${made.id}`);
  };
  return (
    <>
      {['sending', 'testing'].includes(of.status) && (
        <ActionButton act={pause} done="Paused: nothing more is sent until it is resumed">
          Pause
        </ActionButton>
      )}
      {of.status === 'paused' && (
        <ActionButton act={resume} kind="primary">
          Resume
        </ActionButton>
      )}
      {['scheduled', 'sending', 'testing', 'paused'].includes(of.status) && <Cancel {...props} />}
      <ActionButton act={copy}>Copy</ActionButton>
      {isPlanned(of) && (
        <ButtonLink href={hrefOf(to`/projects/${path.project}/broadcasts/${path.broadcast}/edit`)}>
          Edit
        </ButtonLink>
      )}
    </>
  );
}

function Cancel({ path, of, onChange }: BroadcastPartProps) {
  const cancel = async (): Promise<void> => {
    await askFirst({
      title: `Cancel ${of.name} for good?`,
      submit: 'Cancel the broadcast',
      decline: 'Keep it',
      tone: 'bad',
      told: (
        <p>
          {of.started_at === null
            ? 'Nobody gets it. '
            : `${counted(of.stats.sent, 'mail')} went out; whoever has none yet gets none. `}
          It cannot be taken up again, only copied.
        </p>
      ),
    });
    await call('POST /projects/{project}/email-broadcasts/{broadcast}/cancel', { path });
    toast(`${of.name} is cancelled`);
    onChange();
  };
  return (
    <ActionButton act={cancel} kind="bad">
      Cancel the broadcast
    </ActionButton>
  );
}
