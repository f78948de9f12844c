/** Asks before something is destroyed: says what goes along, and wants the name typed. The button opens it. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { mayWrite } from '../capabilities.ts';
import { Dialog } from './dialog.tsx';
import { Form } from './form.tsx';
import { Panel } from './page.tsx';
import { TextField } from './text-field.tsx';

export function ConfirmByName(props: {
  /** Of the button and the dialog: "Delete the key". */
  title: string;
  /** The name that must be typed. */
  name: string;
  /** A sentence or a list of all that is lost with it. */
  children: ComponentChildren;
  act(): Promise<unknown>;
  is_small?: boolean;
  /** A shorter word for the button, where what it is about stands beside it; the title has to contain it. */
  button?: string;
}) {
  const { title, name, children, act, is_small, button } = props;
  const [is_open, setOpen] = useState(false);
  const [typed, setTyped] = useState('');
  const close = (): void => {
    setOpen(false);
    setTyped('');
  };
  const run = async (): Promise<void> => {
    await act();
    close();
  };
  if (!mayWrite()) return null;
  return (
    <>
      <button
        type="button"
        class={`button bad${is_small ? ' small' : ''}`}
        aria-label={button && title}
        onClick={() => setOpen(true)}
      >
        {button ?? title}
      </button>
      {is_open && (
        <Dialog title={`${title}?`} onClose={close}>
          <div>{children}</div>
          <Form
            is_fleeting
            submit={title}
            tone="bad"
            is_disabled={typed.trim() !== name}
            onCancel={close}
            onSubmit={run}
          >
            <TextField name="confirm" label={`Type ${name} to go on`} is_focused onInput={setTyped} />
          </Form>
        </Dialog>
      )}
    </>
  );
}

/** A part of a page that ends a thing, once its name was typed; `children`: what goes along, in a sentence. */
export function Ending(props: {
  title: string;
  lead?: string;
  name: string;
  act(): Promise<unknown>;
  children: ComponentChildren;
}) {
  const { title, lead, children, ...rest } = props;
  return (
    <Panel title={title} tone="danger" lead={lead}>
      <ConfirmByName title={title} {...rest}>
        <p>{children}</p>
      </ConfirmByName>
    </Panel>
  );
}
