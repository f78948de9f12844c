/**
 * Setting up sending, from anywhere that needs it and back: a capturing mailbox at once, or a domain with its records, a relay that
 * was tried, and a test mail. How far it has come is told by what there is, so that it goes on wherever it was left.
 */

import { useState } from 'preact/hooks';
import type { Mailbox, MailboxTest, SendingDomain } from '../../api.generated.ts';
import { call } from '../../api.ts';
import { type Entered, Form } from '../../components/form.tsx';
import { Loaded, PageHeader, Panel } from '../../components/page.tsx';
import { TextField } from '../../components/text-field.tsx';
import { hrefOf, useQuery } from '../../router.ts';
import { person } from '../../session.ts';
import { useAll, useLoad } from '../../use-load.ts';
import { EventsPanel } from '../mailboxes/events-panel.tsx';
import { TestResult } from '../mailboxes/test-send.tsx';
import { ChooseDomain } from './choose-domain.tsx';
import { nextIn, wayBack } from './next.ts';
import { PublishRecords } from './publish-records.tsx';
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
              {relaying && <Bounces address={relaying.address} />}
              <Onward next={next} is_ready={isSending(of) && relaying !== null} />
            </div>
          )}
        </Loaded>
      )}
    </Loaded>
  );
}

/** It says by itself when the first event has come. */
function Bounces({ address }: { address: string }) {
  const load = useLoad('GET /mailboxes/{address}', { path: { address } }, { looks_again: true });
  return (
    <Loaded load={load}>
      {(of) => <EventsPanel of={of} etag={load.etag} title="4. Hear of bounces" onChange={load.reload} />}
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

/** A test mail to oneself, through the relay that was connected. */
function TestMail({ of, mailbox }: { of: SendingDomain; mailbox: Mailbox | null }) {
  const [result, setResult] = useState<MailboxTest | null>(null);
  if (mailbox === null)
    return (
      <Panel title="3. Send yourself a test">
        <p class="muted">Once the relay is connected.</p>
      </Panel>
    );
  const send = async (entered: Entered): Promise<void> => {
    setResult(null);
    const path = { address: mailbox.address };
    setResult(await call('POST /mailboxes/{address}/test', { path, body: { to: entered.text('to') } }));
  };
  return (
    <Panel
      title="3. Send yourself a test"
      lead={
        of.is_verified || of.is_trusted
          ? 'One message, at once. See whether it arrives, and not as junk.'
          : 'One message, at once. Before the records are found it may be taken for junk.'
      }
    >
      <div class="stack">
        <Form is_fleeting submit="Send the test" onSubmit={send}>
          <TextField name="to" label="To" type="email" value={person.value?.email ?? ''} is_mono />
        </Form>
        {result && <TestResult of={result} />}
      </div>
    </Panel>
  );
}
