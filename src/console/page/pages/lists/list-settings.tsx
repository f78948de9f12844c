/** Changing a list, archiving it, and taking it up again. */
import type { ContactList } from '../../api.generated.ts';
import { call } from '../../api.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { Ending } from '../../components/confirm-by-name.tsx';
import { type Entered, Form } from '../../components/form.tsx';
import { Facts, Panel } from '../../components/page.tsx';
import { counted } from '../../components/quantity.tsx';
import { Time } from '../../components/time.tsx';
import { toast } from '../../components/toast.tsx';
import { BesideForm, Strangers } from '../marketing/strangers.tsx';
import { enteredList, ListFields } from './list-fields.tsx';

/** Settings of a list that strangers see. */
function looksIn(entered: Entered) {
  const { name, language, confirmation_template, signed_up_url, confirmed_url, is_public } =
    enteredList(entered);
  return { name, language, confirmation_template, signed_up_url, confirmed_url, is_public };
}

interface ListSettingsProps {
  project: string;
  list: ContactList;
  /** The version that was read. */
  etag: string | null;
  onChange(): void;
}

export function ListSettings({ project, list, etag, onChange }: ListSettingsProps) {
  const path = { project, list: list.id };
  const change = async (entered: Entered): Promise<void> => {
    await call('PATCH /projects/{project}/email-lists/{list}', {
      path,
      if_match: entered.version,
      body: enteredList(entered),
    });
    toast('The changes are saved');
    onChange();
  };
  const setArchived = async (archived: boolean): Promise<void> => {
    await call('PATCH /projects/{project}/email-lists/{list}', { path, if_match: null, body: { archived } });
    toast(`The list ${list.name} ${archived ? 'is archived' : 'takes contacts again'}`);
    onChange();
  };
  return (
    <>
      <BesideForm
        form={
          <Panel title="About the list">
            <Form is_wide submit="Save the changes" version={etag} onSubmit={change}>
              <ListFields project={project} list={list} />
            </Form>
          </Panel>
        }
        beside={(entered) => (
          <Strangers
            project={project}
            first="join"
            list={list.id}
            typed={entered && { list_changes: looksIn(entered) }}
          />
        )}
      />
      <Panel title="Known as">
        <Facts
          of={[
            ['Id', <code key="id">{list.id}</code>],
            ['Created', <Time key="created" at={list.created_at} />],
          ]}
        />
      </Panel>
      {list.archived ? (
        <Panel title="Archived" lead="Nobody can be added to it. Its contacts can be read and changed.">
          <ActionButton act={() => setArchived(false)}>Restore it</ActionButton>
        </Panel>
      ) : (
        <Ending
          title="Archive the list"
          lead="It can be restored at any time."
          name={list.name}
          act={() => setArchived(true)}
        >
          Its {counted(list.contacts_count, 'contact')} stay, but nobody can be added any more: forms, imports
          and the API are refused, links of confirmation mails no longer work, and no sequence can be
          activated on it.
        </Ending>
      )}
    </>
  );
}
