/** Where there is nothing: says what would fill the place, with the button or the command that does. */
import type { ComponentChildren } from 'preact';
import { Command } from './copy-button.tsx';
import { Drawing, type DrawingName } from './drawing.tsx';

export function Empty(props: {
  title: string;
  /** Of a place that something will fill. */
  drawing?: DrawingName;
  command?: string;
  children?: ComponentChildren;
}) {
  return (
    <div class="empty">
      {props.drawing && <Drawing of={props.drawing} />}
      <p class="empty-title">{props.title}</p>
      {props.children}
      {props.command && <Command of={props.command} />}
    </div>
  );
}
