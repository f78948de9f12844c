/**
 * Setting up sending, from anywhere that needs it and back: a capturing mailbox at once, or a domain with its records, a relay that
 * was tried, and a test mail. How far it has come is told by what there is, so that it goes on wherever it was left.
 */
import { Loaded, PageHeader, Panel } from '../../components/page.tsx';
import { hrefOf, useQuery } from '../../router.ts';
import { useAll, useLoad } from '../../use-load.ts';
import { ChooseDomain } from './choose-domain.tsx';
import { nextIn, wayBack } from './next.ts';
import { PublishRecords } from './publish-records.tsx';
import { TestMail } from './test-mail.tsx';
import { TryRelay } from './try-relay.tsx';

export default function SetUpSendingPage() {
  const query = useQuery();
  const next = nextIn(query);
  const name = query.get('domain');
  return (
    <>
      <PageHeader
        title="Set up sending"
        lead={
          name === null
            ? 'Mail goes out from a domain of yours, through a relay that delivers it.'
            : `For ${name}. You may leave at any time: it goes on from where it is.`
        }
        back={wayBack(next)}
      />
      {name === null ? <ChooseDomain next={next} /> : <OfDomain key={name} name={name} next={next} />}
    </>
  );
}

function OfDomain({ name, next }: { name: string; next: string | null }) {
  const domain = useLoad('GET /sending-domains/{name}', { path: { name } });
  const all = useAll('GET /mailboxes', {});
  const mailboxes = all.data?.filter(({ domain }) => domain === name);
  const relaying = mailboxes?.find(({ kind }) => kind === 'smtp') ?? null;
  const reload = (): void => {
    domain.reload();
    all.reload();
  };
  return (
    <Loaded load={domain}>
      {(of) => (
        <Loaded load={all}>
          {() => (
            <div class="stack">
              <PublishRecords of={of} onChange={domain.reload} />
              <TryRelay of={of} mailbox={relaying} onChange={reload} />
              <TestMail of={of} mailbox={relaying} />
              <Onward next={next} is_ready={isSending(of) && relaying !== null} />
            </div>
          )}
        </Loaded>
      )}
    </Loaded>
  );
}

const isSending = (of: { is_verified: boolean; is_trusted: boolean }): boolean =>
  of.is_verified || of.is_trusted;

function Onward({ next, is_ready }: { next: string | null; is_ready: boolean }) {
  return (
    <Panel title={is_ready ? 'All is in place' : 'Go on meanwhile'}>
      <div class="stack">
        <p class="muted">
          {is_ready
            ? 'Mail goes out from this domain.'
            : 'Mail goes out once the records are found and the relay is connected.'}
        </p>
        <div>
          <a class={`button${is_ready ? ' primary' : ''}`} href={hrefOf(next ?? '/')}>
            {next === null ? 'To the home page' : 'Back to where you were'}
          </a>
        </div>
      </div>
    </Panel>
  );
}
