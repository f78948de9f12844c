/** Checks the settings and mailboxes that sequences and broadcasts need: tells what is there, and what is missing. */
import type { DnsCheck, MarketingSettings } from '../../api.generated.ts';
import { Loaded, Notice, Panel } from '../../components/page.tsx';
import { Status } from '../../components/status.tsx';
import type { Load } from '../../use-load.ts';
import { LACKS } from './lacking.tsx';

type Mailbox = NonNullable<MarketingSettings['mailboxes']>[number];

const RECORDS = ['spf', 'dkim', 'dmarc'] as const;

function isSound(mailbox: Mailbox): boolean {
  return RECORDS.every((kind) => mailbox[kind].ok);
}

/** Missing settings, as the check of a sequence has them; its own steps and templates are told on its page. */
function missingOf(settings: MarketingSettings): string[] {
  const { enabled, from_name, postal_address, captured, mailboxes = [] } = settings;
  return [
    ...(enabled ? [] : [LACKS.marketing_disabled]),
    ...(from_name === null ? [LACKS.no_from_name] : []),
    ...(postal_address === null ? [LACKS.no_postal_address] : []),
    ...(mailboxes.length === 0
      ? ['No active mailbox is for marketing: satchel mailbox add ADDRESS --smtp RELAY --for marketing']
      : captured || mailboxes.some(isSound)
        ? []
        : ['No mailbox has SPF, DKIM and DMARC in place.']),
    ...(settings.problem_of_links ? [settings.problem_of_links] : []),
  ];
}

export function Readiness({ load }: { load: Load<MarketingSettings> }) {
  return (
    <Panel title="Ready to send">
      <Loaded load={load}>
        {(settings) => {
          const missing = missingOf(settings);
          return (
            <div class="stack-small">
              {missing.length === 0 ? (
                <Notice tone="good">
                  Nothing is missing here: a sequence or broadcast that is complete can go out.
                </Notice>
              ) : (
                <div class="notice warn">
                  <p>Before a sequence can be activated, or a broadcast sent:</p>
                  <ul class="bullets">
                    {missing.map((what) => (
                      <li key={what}>{what}</li>
                    ))}
                  </ul>
                </div>
              )}
              {settings.captured && (
                <p>
                  All mailboxes of this project's marketing capture: nobody gets its mail, and what follows is
                  for the day when one has a relay.
                </p>
              )}
              {settings.mailboxes?.map((mailbox) => (
                <MailboxRecords key={mailbox.address} mailbox={mailbox} />
              ))}
            </div>
          );
        }}
      </Loaded>
    </Panel>
  );
}

function MailboxRecords({ mailbox }: { mailbox: Mailbox }) {
  return (
    <details class="more">
      <summary>
        {mailbox.address}{' '}
        {RECORDS.map((kind) => (
          <Status
            key={kind}
            of={`${kind.toUpperCase()} ${mailbox[kind].ok ? 'ok' : 'missing'}`}
            tone={mailbox[kind].ok ? 'good' : 'bad'}
          />
        ))}
      </summary>
      <dl class="facts">
        {RECORDS.map((kind) => (
          <Record key={kind} kind={kind.toUpperCase()} check={mailbox[kind]} />
        ))}
      </dl>
    </details>
  );
}

function Record({ kind, check }: { kind: string; check: DnsCheck }) {
  return (
    <>
      <dt>{kind}</dt>
      <dd class="row">
        <Status of={check.ok ? 'ok' : 'missing'} />
        {check.problem && <span>{check.problem}</span>}
        {check.record && <code>{check.record}</code>}
      </dd>
    </>
  );
}
