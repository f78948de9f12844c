/** Adding one contact to a list, through the same checks as any other. */

import { callTelling } from '../../api.ts';
import { ButtonLink } from '../../components/button-link.tsx';
import { Empty } from '../../components/empty.tsx';
import { type Entered, Form } from '../../components/form.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { Panel } from '../../components/panel.tsx';
import { SelectField } from '../../components/select-field.tsx';
import { TextAreaField } from '../../components/text-area-field.tsx';
import { TextField } from '../../components/text-field.tsx';
import { toast } from '../../components/toast.tsx';
import type { PageProps } from '../../pages.ts';
import { hrefOf, navigate, to, useQuery } from '../../router.ts';
import { useLoad } from '../../use-load.ts';
import { basisChoices, CONSENT_BASES, readBasis } from './consent-bases.ts';

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

function AddForm({ project, list }: { project: string; list: string }) {
  const path = { project, list };
  const load = useLoad('GET /projects/{project}/email-lists/{list}', { path });
  const add = async (entered: Entered): Promise<void> => {
    const consent_basis = readBasis(entered.text('consent_basis'));
    const optional = Object.fromEntries(
      ['first_name', 'last_name', 'source', 'reason', 'consent_origin', 'consent_ip'].flatMap((name) => {
        const text = entered.text(name);
        return text === '' ? [] : [[name, text]];
      }),
    );
    const { answer: contact, is_duplicate } = await callTelling(
      'POST /projects/{project}/email-lists/{list}/contacts',
      {
        path,
        body: {
          email: entered.text('email'),
          tags: entered.lines('tags'),
          source_platform: 'manual',
          ...optional,
          ...(consent_basis !== null && { consent_basis }),
        },
      },
    );
    toast(is_duplicate ? `${contact.email} is on the list already` : `${contact.email} is added`);
    navigate(to`/projects/${project}/contacts/${contact.id}`);
  };
  return (
    <Loaded load={load}>
      {(of) => {
        const basis = of.default_consent_basis;
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
              <TextField name="email" label="Email" type="email" is_focused />
              <TextField name="first_name" label="First name" />
              <TextField name="last_name" label="Last name" />
              <SelectField
                name="consent_basis"
                label="Basis of consent"
                choices={basisChoices(basis === null ? 'Choose one' : `The list's: ${CONSENT_BASES[basis]}`)}
                hint="Why this address may be mailed. It is kept as evidence and cannot be changed later."
              />
              <TextField
                name="consent_origin"
                label="Where it was given"
                placeholder="https://shop.example.com/sign-up"
              />
              <TextField name="consent_ip" label="From which IP address" is_mono />
              <TextField name="source" label="Source" placeholder="Trade fair 2030" />
              <TextField name="reason" label="Reason" placeholder="Asked for the catalogue" />
              <TextAreaField name="tags" label="Tags" rows={2} hint="One on each line." />
            </Form>
          </Panel>
        );
      }}
    </Loaded>
  );
}
