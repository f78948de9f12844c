/** A contact's source, and the reason why it may be mailed. */
import type { Contact, ContactList } from '../../api.generated.ts';
import { Facts, Panel } from '../../components/page.tsx';
import { Time } from '../../components/time.tsx';
import { hrefOf, to } from '../../router.ts';
import { useLoad } from '../../use-load.ts';

export function ContactEvidence({ project, contact }: { project: string; contact: Contact }) {
  const list = useLoad('GET /projects/{project}/email-lists/{list}', {
    path: { project, list: contact.list },
  });
  const basis = readBasis(contact.consent_basis);
  return (
    <Panel title="Evidence of consent" lead="Kept as it came; it cannot be changed.">
      <Facts
        of={[
          ['Basis', basis === null ? contact.consent_basis : CONSENT_BASES[basis]],
          ['Given', <Time key="given" at={contact.consent_at} exact />],
          ['Confirmed', contact.confirmed_at && <Time key="confirmed" at={contact.confirmed_at} exact />],
          ['On the page', contact.consent_origin],
          ['From the IP', contact.consent_ip && <code key="ip">{contact.consent_ip}</code>],
          ['Came by', contact.source_platform],
          [
            'List',
            <a key="list" href={hrefOf(to`/projects/${project}/lists/${contact.list}`)}>
              {list.data?.name ?? contact.list}
            </a>,
          ],
          ['Added', <Time key="added" at={contact.created_at} />],
          ['Token', <code key="token">{contact.contact_token}</code>],
        ]}
      />
    </Panel>
  );
}

/** Why somebody may be mailed, in words. */
type ConsentBasis = NonNullable<ContactList['default_consent_basis']>;

export const CONSENT_BASES: Readonly<Record<ConsentBasis, string>> = {
  consent: 'Consent',
  double_opt_in: 'Double opt-in',
  contract: 'Contract',
  legitimate_interest: 'Legitimate interest',
  existing_customer: 'Existing customer',
};

/** Reads a choice: null where none was made. */
export function readBasis(chosen: string): ConsentBasis | null {
  return Object.hasOwn(CONSENT_BASES, chosen) ? (chosen as ConsentBasis) : null;
}
