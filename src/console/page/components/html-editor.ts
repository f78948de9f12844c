/** CodeMirror as the console uses it; imported by code-editor.tsx when an editor is shown, and by nothing else. */
import { html } from '@codemirror/lang-html';
import { basicSetup, EditorView } from 'codemirror';

interface EditorOptions {
  label: string;
  value: string;
  onChange(value: string): void;
}

const LOOK = EditorView.theme({
  '&': { color: 'var(--text)', backgroundColor: 'var(--panel)', fontSize: '13px', minHeight: '320px' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '20px', minHeight: '320px' },
  '.cm-content': { caretColor: 'var(--text)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-gutters': {
    color: 'var(--muted)',
    backgroundColor: 'var(--sunken)',
    borderRight: '1px solid var(--line)',
  },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'var(--accent-soft)' },
  '&.cm-focused .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--line-strong) !important',
  },
  '&.cm-focused': { outline: '2px solid var(--accent-text)', outlineOffset: '-2px' },
  '.cm-panels': { color: 'var(--text)', backgroundColor: 'var(--sunken)' },
});

/** Opens an editor; what it returns takes it away again. */
export function openEditor(root: ShadowRoot, { label, value, onChange }: EditorOptions): () => void {
  const view = new EditorView({
    doc: value,
    root,
    parent: root,
    extensions: [
      basicSetup,
      html(),
      EditorView.lineWrapping,
      EditorView.contentAttributes.of({ 'aria-label': label }),
      LOOK,
      EditorView.updateListener.of((update) => {
        if (update.docChanged) onChange(update.state.doc.toString());
      }),
    ],
  });
  return () => view.destroy();
}
