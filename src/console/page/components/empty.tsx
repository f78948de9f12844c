/** Where there is nothing: says what would fill the place, with the button or the command that does. */
import type { ComponentChildren } from 'preact';
import { Command } from './command.tsx';

export function Empty(props: { title: string; command?: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="empty-title">{props.title}</p>
      {props.children}
      {props.command && <Command of={props.command} />}
    </div>
  );
}
