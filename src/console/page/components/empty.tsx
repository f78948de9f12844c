/** Where there is nothing: says what would fill the place, with the button or the command that does. */
import type { ComponentChildren } from 'preact';
import { CopyButton } from './copy-button.tsx';

export function Empty(props: { title: string; command?: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="empty-title">{props.title}</p>
      {props.children}
      {props.command && (
        <p class="command">
          <code>{props.command}</code>
          <CopyButton text={props.command} label="Copy the command" />
        </p>
      )}
    </div>
  );
}
