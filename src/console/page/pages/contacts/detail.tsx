/** One contact: what it gets and why, what it says of itself, and the evidence of its consent. */
import type { Contact } from '../../api.generated.ts';
import { call } from '../../api.ts';
import { ButtonLink } from '../../components/button-link.tsx';
import { Ending } from '../../components/confirm-by-name.tsx';
import { Loaded, PageHeader } from '../../components/page.tsx';
import { Status } from '../../components/status.tsx';
import { toast } from '../../components/toast.tsx';
import type { PageProps } from '../../pages.ts';
import { hrefOf, to } from '../../router.ts';
import { useLoad } from '../../use-load.ts';
import { ContactChange } from './contact-change.tsx';
import { ContactEvidence } from './contact-evidence.tsx';
import { ContactWhy } from './contact-why.tsx';

export default function ContactPage({ params }: PageProps<'project' | 'contact'>) {
  const load = useLoad(
    'GET /projects/{project}/email-contacts/{contact}',
    { path: params },
    { looks_again: true },
  );
  const why = useLoad('GET /projects/{project}/email-contacts/{contact}/why', { path: params });
  const contact = load.data;
  const changed = (): void => {
    load.reload();
    why.reload();
  };
  const contacts = hrefOf(to`/projects/${params.project}/contacts`);
  return (
    <>
      <PageHeader
        title={contact?.email ?? 'Contact'}
        back={
          contact
            ? { href: hrefOf(to`/projects/${params.project}/lists/${contact.list}`), label: 'Its list' }
            : { href: contacts, label: 'Contacts' }
        }
        beside={contact && <Status of={contact.status} />}
        lead={contact && [contact.first_name, contact.last_name].filter(Boolean).join(' ')}
        actions={
          contact && (
            <ButtonLink href={`${contacts}?email=${encodeURIComponent(contact.email)}`}>
              All about the address
            </ButtonLink>
          )
        }
      />
      <Loaded load={load}>
        {(of) => (
          <div class="stack">
            <div class="columns">
              <ContactWhy project={params.project} load={why} />
              <ContactEvidence project={params.project} contact={of} />
            </div>
            <ContactChange
              key={of.updated_at}
              path={params}
              contact={of}
              etag={load.etag}
              onChange={changed}
            />
            <Leave path={params} contact={of} onChange={changed} />
          </div>
        )}
      </Loaded>
    </>
  );
}

function Leave(props: { path: { project: string; contact: string }; contact: Contact; onChange(): void }) {
  const { path, contact, onChange } = props;
  if (contact.status === 'unsubscribed') return null;
  const leave = async (): Promise<void> => {
    await call('POST /projects/{project}/email-contacts/{contact}/unsubscribe', { path });
    toast(`${contact.email} gets no more marketing mail of this project`);
    onChange();
  };
  return (
    <Ending
      title="Unsubscribe"
      lead="What the person could do by the link in each mail. Transactional mail goes on."
      name={contact.email}
      act={leave}
    >
      The address leaves every list of this project, its sequences end, and it is suppressed: it cannot be
      added again before the suppression is lifted.
    </Ending>
  );
}
