/** A dialog over the page, the browser's own: it keeps the focus inside, Escape closes it, and the focus goes back. */
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { Icon } from './icon.tsx';
import { mayLeave } from './unsaved.tsx';

export function Dialog({
  title,
  onClose,
  is_wide = false,
  children,
}: {
  title: string;
  onClose(): void;
  is_wide?: boolean;
  children: ComponentChildren;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  const [opener] = useState(() => document.activeElement);
  const close = async (): Promise<void> => {
    if (dialog.current && (await mayLeave(dialog.current))) onClose();
  };
  useEffect(() => {
    const shown = dialog.current;
    shown?.showModal();
    return () => {
      shown?.close();
      // The browser gives it back to nobody, as the dialog leaves the page while it closes.
      requestAnimationFrame(() => {
        if (document.activeElement === document.body && opener instanceof HTMLElement) opener.focus();
      });
    };
  }, [opener]);
  return (
    <dialog
      ref={dialog}
      class={is_wide ? 'wide' : undefined}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        void close();
      }}
    >
      <div class="dialog-head">
        <h2 id={id}>{title}</h2>
        <button type="button" class="button quiet square" aria-label="Close" onClick={close}>
          <Icon name="close" />
        </button>
      </div>
      <div class="dialog-body">{children}</div>
    </dialog>
  );
}
