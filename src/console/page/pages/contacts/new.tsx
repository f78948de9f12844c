/** Adding one contact to a list, through the same checks as any other. */
import type { ContactList } from '../../api.generated.ts';
import { callTelling } from '../../api.ts';
import { ButtonLink } from '../../components/button-link.tsx';
import { choiceOrNone, Fields, lines, optional, text } from '../../components/fields.tsx';
import { type Entered, Form } from '../../components/form.tsx';
import { Empty, Loaded, PageHeader, Panel } from '../../components/page.tsx';
import { toast } from '../../components/toast.tsx';
import type { PageProps } from '../../pages.ts';
import { hrefOf, navigate, to, useQuery } from '../../router.ts';
import { useLoad } from '../../use-load.ts';
import { CONSENT_BASES } from './contact-evidence.tsx';

export default function NewContactPage({ params }: PageProps<'project'>) {
  const list = useQuery().get('list');
  return (
    <>
      <PageHeader
        title="Add a contact"
        back={
          list === null
            ? { href: hrefOf(to`/projects/${params.project}/contacts`), label: 'Contacts' }
            : { href: hrefOf(to`/projects/${params.project}/lists/${list}`), label: 'The list' }
        }
      />
      {list === null ? (
        <div class="panel">
          <Empty title="To which list?">
            <p>A contact is an address on a list. Open the list first.</p>
            <ButtonLink kind="primary" href={hrefOf(to`/projects/${params.project}/lists`)}>
              Lists
            </ButtonLink>
          </Empty>
        </div>
      ) : (
        <AddForm project={params.project} list={list} />
      )}
    </>
  );
}

function fieldsOf(list: ContactList | null) {
  const basis = list?.default_consent_basis ?? null;
  return {
    email: text('Email', { type: 'email' }),
    first_name: optional('First name'),
    last_name: optional('Last name'),
    consent_basis: choiceOrNone(
      'Basis of consent',
      basis === null ? 'Choose one' : `The list's: ${CONSENT_BASES[basis]}`,
      CONSENT_BASES,
      { hint: 'Why this address may be mailed. It is kept as evidence and cannot be changed later.' },
    ),
    consent_origin: optional('Where it was given', { placeholder: 'https://shop.example.com/sign-up' }),
    consent_ip: optional('From which IP address', { is_mono: true }),
    source: optional('Source', { placeholder: 'Trade fair 2030' }),
    reason: optional('Reason', { placeholder: 'Asked for the catalogue' }),
    tags: lines('Tags'),
  };
}

function AddForm({ project, list }: { project: string; list: string }) {
  const path = { project, list };
  const load = useLoad('GET /projects/{project}/email-lists/{list}', { path });
  const add = async (entered: Entered): Promise<void> => {
    const body = { ...entered.given(fieldsOf(load.data)), source_platform: 'manual' };
    const { answer: contact, is_duplicate } = await callTelling(
      'POST /projects/{project}/email-lists/{list}/contacts',
      { path, body },
    );
    toast(is_duplicate ? `${contact.email} is on the list already` : `${contact.email} is added`);
    navigate(to`/projects/${project}/contacts/${contact.id}`);
  };
  return (
    <Loaded load={load}>
      {(of) => {
        return (
          <Panel
            title={`On the list ${of.name}`}
            lead="The address is checked: its syntax, the basis of consent, suppressions, and whether its domain takes mail."
          >
            <Form
              submit="Add the contact"
              onSubmit={add}
              onCancel={() => navigate(to`/projects/${project}/lists/${list}`)}
            >
              <Fields fields={fieldsOf(of)} is_focused />
            </Form>
          </Panel>
        );
      }}
    </Loaded>
  );
}
