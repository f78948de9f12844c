/** The sending domains that a project's mail goes by: for who administers, where there are several. */
import type { Project } from '../../api.generated.ts';
import { ChecksField, SelectField } from '../../components/fields.tsx';
import type { Entered } from '../../components/form.tsx';
import { Loaded } from '../../components/page.tsx';
import { TextField } from '../../components/text-field.tsx';
import { useAll } from '../../use-load.ts';

type Sending = Pick<Project, 'sending_domain' | 'sending_domains'>;

export function SendingFields({ project }: { project: Sending }) {
  const load = useAll('GET /sending-domains', {});
  const { sending_domain, sending_domains } = project;
  return (
    <Loaded load={load}>
      {(domains) => {
        // One that it names and that is not there can be taken away here.
        const named = [...(sending_domain === null ? [] : [sending_domain]), ...(sending_domains ?? [])];
        const names = [...new Set([...domains.map(({ name }) => name), ...named])];
        if (names.length < 2) return null;
        return (
          <>
            <ChecksField
              name="sending_domains"
              label="Sending domains"
              choices={names.map((name) => [name, name])}
              value={sending_domains ?? []}
              hint="The only ones that its mail may go out from; others may, too. None: any."
            />
            <SelectField
              name="sending_domain"
              label="Sends from"
              value={sending_domain ?? ''}
              choices={[
                ['', 'The default domain, else its first'],
                ...names.map((name) => [name, name] as const),
              ]}
              hint="What mail goes out from that names no domain."
            />
          </>
        );
      }}
    </Loaded>
  );
}

/** The changes; none where there was no choice. Unchanged values are not sent, as they may name what is not there yet. */
export function enteredSending(entered: Entered, before: Sending): Partial<Sending> {
  if (!entered.names('sending_domain').includes('sending_domain')) return {};
  const sending_domain = entered.textOrNull('sending_domain');
  const ticked = entered.all('sending_domains');
  const are_same = ticked.toSorted().join() === (before.sending_domains ?? []).toSorted().join();
  return {
    ...(sending_domain !== before.sending_domain && { sending_domain }),
    ...(!are_same && { sending_domains: ticked.length > 0 ? ticked : null }),
  };
}

type Links = Pick<Project, 'link_domain' | 'link_domain_status' | 'link_domain_problem'>;

export function LinkDomainField({ link_domain, link_domain_status, link_domain_problem }: Links) {
  const standing =
    link_domain === null
      ? 'Such as links.example.com, with a DNS record that leads here. Links in its mails and its public pages then begin with it.'
      : link_domain_problem === null
        ? 'It leads here: links begin with it.'
        : `${link_domain_status === 'active' ? 'The last look failed' : 'It does not lead here yet'}: ${link_domain_problem}.`;
  return <TextField name="link_domain" label="Link domain" value={link_domain} is_mono hint={standing} />;
}

/** Sent where it was changed: each time the name is asked anew. */
export function enteredLinkDomain(entered: Entered, before: Links): Partial<Pick<Links, 'link_domain'>> {
  const link_domain = entered.textOrNull('link_domain');
  return entered.names('link_domain').includes('link_domain') && link_domain !== before.link_domain
    ? { link_domain }
    : {};
}
