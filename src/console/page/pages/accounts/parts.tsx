/** Parts of the pages of accounts and databases at providers: adding one, showing its secrets, changing it, and its end. */

import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { type Capability, may } from '../../capabilities.ts';
import { Ending } from '../../components/confirm-by-name.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { type FormField, secret } from '../../components/fields.tsx';
import { type Entered, Form } from '../../components/form.tsx';
import { Icon } from '../../components/icon.tsx';
import { MaskedSecret } from '../../components/masked-secret.tsx';
import { Panel } from '../../components/page.tsx';
import { toast } from '../../components/toast.tsx';
import { navigate } from '../../router.ts';
import { useRevealed } from '../../use-revealed.ts';

/** A key or token, with no spaces around it; left empty, what is stored stays. */
export const token = (...[label, options]: Parameters<typeof secret>): FormField<string | null> => ({
  ...secret(label, options),
  read: (entered, name) => entered.textOrNull(name),
});

/** A button, and the dialog that it opens; whoever has added one gets to its page. */
export function Add(props: {
  noun: 'account' | 'database';
  title: string;
  children: ComponentChildren;
  add(entered: Entered): Promise<{ id: number; name: string }>;
  pageOf(id: number): string;
}) {
  const { noun, title, children, add, pageOf } = props;
  const [is_open, setOpen] = useState(false);
  const close = (): void => setOpen(false);
  const submit = async (entered: Entered): Promise<void> => {
    const { id, name } = await add(entered);
    toast(`${name} is added`);
    navigate(pageOf(id));
  };
  return (
    <>
      <button type="button" class="button primary" onClick={() => setOpen(true)}>
        <Icon name="plus" />
        Add {noun === 'account' ? 'an account' : 'a database'}
      </button>
      {is_open && (
        <Dialog title={title} onClose={close}>
          <Form submit={`Add the ${noun}`} onSubmit={submit} onCancel={close}>
            {children}
          </Form>
        </Dialog>
      )}
    </>
  );
}

/** Shown one at a time, for a while; `reveal` says null of one that is not stored. Throws ApiError. */
export function Secrets<Name extends string>(props: {
  of: readonly (readonly [Name, string])[];
  needs: Capability;
  reveal(name: Name, label: string): Promise<string | null>;
}) {
  const { of, needs, reveal } = props;
  const { shown, left_s, show, hide } = useRevealed<{ name: Name; value: string }>();
  const open = async (name: Name, label: string): Promise<void> => {
    const value = await reveal(name, label);
    if (value === null) toast(`${label}: none is stored`, 'bad');
    else show({ name, value });
  };
  return (
    <Panel
      title="Secrets"
      lead={
        may(needs)
          ? 'Shown one at a time, for a while. Each time is recorded in the audit trail, with your name.'
          : `Showing them takes the capability ${needs}.`
      }
      flush
    >
      <ul class="values">
        {of.map(([name, label]) => (
          <li key={name}>
            <span class="strong">{label}</span>
            <MaskedSecret
              label={label}
              shown={shown?.name === name ? shown.value : null}
              left_s={left_s}
              hide={hide}
              {...(may(needs) && { reveal: () => open(name, label) })}
            />
          </li>
        ))}
      </ul>
    </Panel>
  );
}

export function Settings(props: {
  title: string;
  etag: string | null;
  children: ComponentChildren;
  change(entered: Entered): Promise<unknown>;
  onChange(): void;
}) {
  const { title, etag, children, change, onChange } = props;
  const [saves, setSaves] = useState(0);
  const save = async (entered: Entered): Promise<void> => {
    await change(entered);
    toast('The changes are saved');
    setSaves(saves + 1);
    onChange();
  };
  return (
    <Panel title={title}>
      {/* A secret that is stored does not stay in its field. */}
      <Form key={saves} submit="Save the changes" version={etag} onSubmit={save}>
        {children}
      </Form>
    </Panel>
  );
}

export function End(props: {
  title: string;
  lead: string;
  /** The name that must be typed. */
  name: string;
  /** Tells all that is lost with it. */
  children: ComponentChildren;
  remove(): Promise<unknown>;
  /** The path of their list. */
  list: string;
}) {
  const { title, lead, name, children, remove, list } = props;
  const act = async (): Promise<void> => {
    await remove();
    toast(`${name} is deleted`);
    navigate(list, { replace: true });
  };
  return (
    <Ending title={title} lead={lead} name={name} act={act}>
      {children}
    </Ending>
  );
}
