/** The host name of its own that a project's links begin with: for who administers. */
import type { Project } from '../../api.generated.ts';
import type { Entered } from '../../components/form.tsx';
import { TextField } from '../../components/text-field.tsx';

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
