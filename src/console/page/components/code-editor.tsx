/**
 * An editor of HTML, or of plain text: CodeMirror, loaded when it is first shown. `value` is what it begins with; from then on the text is the
 * editor's own, told by `onChange`: another text (a template that was loaded again) is another `key`. It lives in a shadow root,
 * where its styles need no exception from the page's policy.
 */
import { useEffect, useRef } from 'preact/hooks';
import type { EditorHandle } from './html-editor.ts';

export type { EditorHandle } from './html-editor.ts';

interface CodeEditorProps {
  label: string;
  value: string;
  language?: 'html' | 'text';
  onChange(value: string): void;
  /** Is given what changes the text where the cursor is; null once the editor is gone. */
  onReady?: (handle: EditorHandle | null) => void;
  /** Commands by their letters, pressed with Ctrl (or ⌘). Later changes of them do not count. */
  keys?: Readonly<Record<string, () => void>>;
  /** Of pictures that are dropped into it, or pasted. */
  onPictures?: (files: File[]) => void;
}

export function CodeEditor(props: CodeEditorProps) {
  const place = useRef<HTMLDivElement>(null);
  const latest = useRef(props);
  latest.current = props;
  useEffect(() => {
    const element = place.current;
    if (!element) return;
    const root = element.shadowRoot ?? element.attachShadow({ mode: 'open' });
    let destroy = (): void => {};
    let is_gone = false;
    void import('./html-editor.ts').then(({ openEditor }) => {
      if (is_gone) return;
      const { label, value, language = 'html' } = latest.current;
      const onChange = (text: string): void => latest.current.onChange(text);
      const { keys = {}, onPictures } = latest.current;
      const editor = openEditor(root, {
        label,
        value,
        language,
        onChange,
        keys,
        onPictures: onPictures ? (files) => latest.current.onPictures?.(files) : null,
      });
      destroy = editor.destroy;
      latest.current.onReady?.(editor);
    });
    return () => {
      is_gone = true;
      latest.current.onReady?.(null);
      destroy();
    };
  }, []);
  return <div class="editor" ref={place} />;
}
