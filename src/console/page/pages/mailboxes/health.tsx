/** The health of a mailbox: each obstacle to its mail, in words, with what mends it; then the other facts. */
import type { MailboxDetails, SendingDomain } from '../../api.generated.ts';
import { call } from '../../api.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { Advanced, Facts, Notice, Panel } from '../../components/page.tsx';
import { Count, counted } from '../../components/quantity.tsx';
import { Time } from '../../components/time.tsx';
import { hrefOf, to } from '../../router.ts';
import { useLoad } from '../../use-load.ts';
import type { MailboxPartProps } from './detail.tsx';
import { UsedToday } from './mailbox-state.tsx';

export function Health({ of, etag, onChange }: MailboxPartProps) {
  const set = async (state: 'active' | 'paused'): Promise<void> => {
    const path = { address: of.address };
    await call('PATCH /mailboxes/{address}', { path, body: { state }, if_match: etag }).finally(onChange);
  };
  const domain = useLoad('GET /sending-domains/{name}', { path: { name: of.domain } }).data;
  const is_spent = of.daily_limit !== null && of.used_today >= of.daily_limit;
  return (
    <>
      {domain && !isUsable(domain) && <UnusableDomain of={domain} />}
      {of.state === 'paused' && (
        <Notice tone="warn">
          <strong>It is paused.</strong> Mail goes out from another mailbox, or waits until there is one.
        </Notice>
      )}
      {of.state === 'resting' && <Resting of={of} />}
      {of.refusal !== null && (
        <div class="notice bad">
          <p>
            <strong>Its relay refuses it.</strong> It said <Time at={of.refused_at} />:{' '}
            <q class="said">{of.refusal}</q>
          </p>
          <p>Correct the relay’s host or password, or ask whoever runs it; then send a test.</p>
        </div>
      )}
      {of.pace !== null && (
        <div class="notice warn">
          <p>
            <strong>
              {of.pace.allowed === null
                ? 'Its relay refused some mail'
                : `It is slowed to ${of.pace.allowed}`}
            </strong>{' '}
            since <Time at={of.pace.since} />: <q class="said">{of.pace.words}</q>
          </p>
          {of.pace.waits_until !== null && (
            <p>
              It waits until <Time at={of.pace.waits_until} />; then one mail asks for all. What a client
              waits for goes at once.
            </p>
          )}
          <p>
            Its pace grows again while the relay takes mail, and resuming it forgets what was learned. With
            the rate that the relay allows, it need not be refused.
          </p>
        </div>
      )}
      {is_spent && (
        <Notice tone="warn">
          <strong>Its daily limit is reached.</strong> It goes on at midnight UTC; until then another mailbox
          sends.
        </Notice>
      )}
      {of.verp_problem !== null && (
        <Notice tone="warn">
          <strong>Its mails get no return path of their own:</strong> {of.verp_problem}
        </Notice>
      )}
      <Panel
        title="State"
        actions={
          of.state === 'active' ? (
            <ActionButton
              is_small
              act={() => set('paused')}
              done="Nothing goes out from it until you resume it"
            >
              Pause
            </ActionButton>
          ) : (
            <ActionButton is_small act={() => set('active')} done="Mail goes out from it again">
              {of.state === 'resting' ? 'End its rest' : 'Resume'}
            </ActionButton>
          )
        }
      >
        <div class="stack">
          <Facts of={factsOf(of)} />
          <Advanced>
            <Facts of={fineFactsOf(of)} />
          </Advanced>
        </div>
      </Panel>
      {of.inbox && <InboxPanel of={of.inbox} />}
    </>
  );
}

/** Mail goes out from a domain that is in use, and verified or trusted. */
function isUsable(domain: SendingDomain): boolean {
  return domain.is_active && (domain.is_verified || domain.is_trusted);
}

function UnusableDomain({ of }: { of: SendingDomain }) {
  const href = hrefOf(to`/sending-domains/${of.name}`);
  return (
    <Notice tone="warn">
      <strong>Nothing goes out from it yet:</strong> its domain is{' '}
      {of.is_active ? 'not verified' : 'not in use'}.{' '}
      <a href={of.is_active ? href : `${href}?tab=settings`}>
        {of.is_active ? `Publish the records of ${of.name}` : `Activate ${of.name}`}
      </a>
      .
    </Notice>
  );
}

function Resting({ of }: { of: MailboxDetails }) {
  return (
    <Notice tone="warn">
      <strong>It rests after {counted(of.failures, 'failure')} in a row</strong> and is tried again{' '}
      <Time at={of.resting_until} />. Meanwhile another mailbox sends.
    </Notice>
  );
}

/** Only where mail leaves: what is captured goes to nobody who looks for a signature. */
function tellSigning({ address, relay }: MailboxDetails) {
  if (relay?.includes('dkim=off')) return 'by its relay';
  return (
    <p>
      Here, which takes 0.85 ms of the processor a mail. Where the relay signs as {address.split('@').at(-1)}{' '}
      itself, <code>?dkim=off</code> at its end saves that, where it is given as a URL under{' '}
      <a href={hrefOf(`${to`/mailboxes/${address}`}?tab=settings`)}>Settings</a>.
    </p>
  );
}

function factsOf(of: MailboxDetails): Parameters<typeof Facts>[0]['of'] {
  return [
    [
      'Domain',
      <a key="domain" href={hrefOf(to`/sending-domains/${of.domain}`)}>
        {of.domain}
      </a>,
    ],
    ['Relay', of.relay === null ? 'None: its mail is captured, and sent to nobody' : <code>{of.relay}</code>],
    ['For', of.for.join(' and ')],
    ['Used today', <UsedToday key="used" of={of} />],
    ['Mails that wait for it', <Count key="waiting" of={of.waiting_emails} />],
    ['Last mail taken', <Time key="success" at={of.last_success_at} />],
    [
      'Last failure',
      of.last_failure_at && (
        <>
          <Time at={of.last_failure_at} />
          {of.last_error !== null && (
            <>
              : <q class="said">{of.last_error}</q>
            </>
          )}
        </>
      ),
    ],
    ['Added', <Time key="created" at={of.created_at} />],
  ];
}

/** Facts that few ask for. */
function fineFactsOf(of: MailboxDetails): Parameters<typeof Facts>[0]['of'] {
  return [
    ...(of.relay === null ? [] : [['Signed', tellSigning(of)] as const]),
    ['Rate', of.rate ?? 'As fast as its relay takes mail'],
    ['Return path', of.return_path === null ? 'The address itself' : <code>{of.return_path}</code>],
    ['One for each mail', of.verp ? 'Yes (VERP)' : 'No'],
  ];
}

function InboxPanel({ of }: { of: NonNullable<MailboxDetails['inbox']> }) {
  const [last] = of.last_unread;
  return (
    <Panel title="Inbox" lead="Reports that arrive there are put to the mails that they are about.">
      <div class="stack">
        {of.last_error !== null && (
          <Notice tone="bad">
            <strong>It could not be read</strong> <Time at={of.last_error_at} />:{' '}
            <q class="said">{of.last_error}</q>
          </Notice>
        )}
        <Facts
          of={[
            ['Server', <code key="address">{of.address}</code>],
            ['Reports taken', <Count key="reports" of={of.reports} />],
            ['Skipped', <Count key="skipped" of={of.skipped} />],
            ['Reports that could not be read', <Count key="unread" of={of.unread} />],
            ...(last
              ? [['The last of these', `${last.subject} (${last.reason.replace('_', ' ')})`] as const]
              : []),
            ['Last read', <Time key="look" at={of.last_look_at} />],
          ]}
        />
      </div>
    </Panel>
  );
}
