/** The mail that asks whoever signs up: one of the project's templates, or one that is made here. */
import { useState } from 'preact/hooks';
import { call } from '../../api.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { ErrorBox } from '../../components/error-box.tsx';
import { SelectField } from '../../components/fields.tsx';
import { toast } from '../../components/toast.tsx';
import { useLoad } from '../../use-load.ts';
import { useChangesOf } from '../../use-rested.ts';

const TEMPLATES = '/projects/{project}/email-templates';

/** Values that the API puts in: the list's name and the link. */
const MADE = {
  name: 'Confirm the sign-up',
  category: 'opt_in',
  subject: 'Please confirm your sign-up to {{ list_name }}',
  body_markdown: `# One click, and you are on the list

Somebody, hopefully you, signed up to **{{ list_name }}** with this address.

[Yes, sign me up]({{ confirm_url }})

If it was not you, do nothing: you will get no further mail.
`,
} as const;

export function ConfirmationField({ project, value }: { project: string; value: string | null }) {
  const path = { project };
  const load = useLoad(`GET ${TEMPLATES}`, { path });
  const [chosen, setChosen] = useState(value ?? '');
  const field = useChangesOf(chosen);
  const make = async (): Promise<void> => {
    const { slug } = await call(`POST ${TEMPLATES}`, { path, body: MADE });
    setChosen(slug);
    load.reload();
    toast(`The template ${MADE.name} is made and chosen. Change its words under Templates`);
  };
  const able = (load.data?.data ?? []).filter(({ is_marketing, is_active }) => is_active && !is_marketing);
  const slugs = able.map(({ slug, name }) => [slug, name] as const);
  // The present choice is offered before the others are loaded, so that whoever saves by then does not change it.
  const is_known = chosen === '' || slugs.some(([slug]) => slug === chosen);
  return (
    <div class="field" ref={field}>
      <SelectField
        key={`${chosen} ${slugs.length}`}
        name="confirmation_template"
        label="Confirmation mail"
        choices={[['', 'None'], ...(is_known ? [] : [[chosen, chosen] as const]), ...slugs]}
        value={chosen}
        onChange={setChosen}
        hint={
          <>
            A template with <code>{'{{confirm_url}}'}</code>. A double opt-in list takes no sign-ups without
            one.
          </>
        }
      />
      {load.error && <ErrorBox error={load.error} retry={load.reload} />}
      {chosen === '' && (
        <div>
          <ActionButton is_small act={make}>
            Make one for me
          </ActionButton>
        </div>
      )}
    </div>
  );
}
