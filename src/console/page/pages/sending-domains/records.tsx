/** The records of a domain: what to publish, and what was found when they were looked up. */
import type { SendingDomainCheck } from '../../api.generated.ts';
import { Panel } from '../../components/page.tsx';
import type { DomainPartProps } from './detail.tsx';
import { RecordToPublish } from './record-to-publish.tsx';

const MAIL_TAKEN = {
  yes: 'takes mail, so bounces arrive.',
  no: 'takes no mail, so bounces are lost. Give it an MX record, or its mailboxes a return path elsewhere.',
  unknown: 'could not be looked up: nobody knows whether bounces arrive.',
} as const;

export function Records({ of, check }: Pick<DomainPartProps, 'of'> & { check: SendingDomainCheck | null }) {
  return (
    <>
      {check && <Outcome check={check} />}
      <Panel
        title="Records to publish"
        lead="In the DNS of the domain, at whoever runs it. Where a form adds the domain's name by itself, leave it off the name."
      >
        <div class="records">
          {(check?.records ?? of.records).map((record) => (
            <RecordToPublish key={record.purpose} of={record} />
          ))}
        </div>
      </Panel>
      <Panel
        title="Good to have"
        lead="For the mail that the domain gets. Nothing that Satchel sends depends on them, and they are not looked up."
      >
        <div class="records">
          {of.advised.map((record) => (
            <RecordToPublish key={record.purpose} of={record} />
          ))}
        </div>
      </Panel>
    </>
  );
}

function Outcome({ check }: { check: SendingDomainCheck }) {
  return (
    <div class={`notice ${check.is_verified ? 'good' : 'warn'}`} role="status">
      <p>
        <strong>{check.is_verified ? 'The domain is verified.' : 'The domain is not verified.'}</strong>{' '}
        {tellState(check)}
      </p>
      {check.bounces.map(({ domain, takes_mail }) => (
        <p key={domain}>
          <code>{domain}</code> {MAIL_TAKEN[takes_mail]}
        </p>
      ))}
    </div>
  );
}

function tellState({ is_verified, is_trusted }: SendingDomainCheck): string {
  if (is_verified) return 'Mail goes out from it.';
  if (is_trusted) return 'It is used all the same, as you trust it.';
  return 'Ownership, SPF and DKIM must all be found. What was published minutes ago may not be seen everywhere yet.';
}
