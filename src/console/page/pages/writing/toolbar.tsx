/** Puts into a text by a click: emphasis, links, pictures and merge fields. */
import { useState } from 'preact/hooks';
import type { EditorHandle } from '../../components/code-editor.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Form } from '../../components/form.tsx';
import { Icon, type IconName } from '../../components/icon.tsx';
import { TextField } from '../../components/text-field.tsx';
import { useMenu } from '../../components/use-menu.ts';
import { Pictures } from '../marketing/logo-field.tsx';
import { type Language, LINES, MARKS } from './language.ts';
import type { FieldGroup } from './merge-menu.ts';

interface ToolbarProps {
  project: string;
  language: Language;
  groups: readonly FieldGroup[];
  handle(): EditorHandle | null;
}

export function Toolbar({ project, language, groups, handle }: ToolbarProps) {
  const [asking, setAsking] = useState<'link' | 'picture' | null>(null);
  const close = (): void => setAsking(null);
  const marks = language === 'text' ? null : MARKS[language];
  return (
    <div class="writing-tools" role="toolbar" aria-label="Insert">
      {marks && language !== 'text' && (
        <>
          <Tool icon="bold" title="Bold (Ctrl+B)" act={() => handle()?.wrap(...marks.bold, 'bold')} />
          <Tool icon="italic" title="Italic (Ctrl+I)" act={() => handle()?.wrap(...marks.italic, 'italic')} />
          {(['heading', 'list', 'quote'] as const).map((name) => (
            <Tool
              key={name}
              icon={name}
              title={LINES[name].title}
              act={() =>
                language === 'markdown'
                  ? handle()?.prefix(LINES[name].markdown)
                  : handle()?.wrap(...LINES[name].html, LINES[name].title)
              }
            />
          ))}
          <Tool icon="link" title="Link" is_asking act={() => setAsking('link')} />
          <Tool icon="picture" title="Picture" is_asking act={() => setAsking('picture')} />
        </>
      )}
      <MergeMenu groups={groups} onChoose={(name) => handle()?.insert(`{{ ${name} }}`)} />
      {asking === 'link' && marks && (
        <LinkDialog
          onClose={close}
          onLink={(url, text) => {
            close();
            handle()?.wrap(...marks.link(url), text || 'the link');
          }}
        />
      )}
      {asking === 'picture' && marks && (
        <Pictures
          project={project}
          onClose={close}
          onChoose={(url) => {
            close();
            handle()?.insert(marks.picture(url, ''));
          }}
        />
      )}
    </div>
  );
}

function Tool(props: { icon: IconName; title: string; act(): void; is_asking?: boolean }) {
  const { icon, title, act, is_asking } = props;
  return (
    <button
      type="button"
      class="button quiet small square"
      aria-label={title}
      title={title}
      aria-haspopup={is_asking ? 'dialog' : undefined}
      // The selection in the text stays.
      onMouseDown={(event) => event.preventDefault()}
      onClick={act}
    >
      <Icon name={icon} />
    </button>
  );
}

function LinkDialog(props: { onLink(url: string, text: string): void; onClose(): void }) {
  const { onLink, onClose } = props;
  return (
    <Dialog title="Link" onClose={onClose}>
      <Form
        is_fleeting
        submit="Put it in"
        onCancel={onClose}
        onSubmit={async (entered) => onLink(entered.text('url') || 'https://', entered.text('text'))}
      >
        <TextField name="url" label="Address" placeholder="https://shop.example.com/offer" is_focused />
        <TextField name="text" label="Its words" hint="Empty: what is selected." />
      </Form>
    </Dialog>
  );
}

function MergeMenu({ groups, onChoose }: { groups: readonly FieldGroup[]; onChoose(name: string): void }) {
  const menu = useMenu();
  return (
    <details class="menu merge-menu" ref={menu}>
      <summary class="button quiet small">
        Merge field
        <Icon name="down" size={14} />
      </summary>
      <div class="menu-panel">
        {groups.map(({ title, fields }) => (
          <section key={title} aria-label={title}>
            <p class="fine muted">{title}</p>
            <ul>
              {fields.map(({ name, says }) => (
                <li key={name}>
                  <button
                    type="button"
                    onClick={() => {
                      if (menu.current) menu.current.open = false;
                      onChoose(name);
                    }}
                  >
                    <code>{name}</code>
                    {says && <span class="muted fine">{says}</span>}
                  </button>
                </li>
              ))}
            </ul>
          </section>
        ))}
      </div>
    </details>
  );
}
