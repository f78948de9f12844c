/** CodeMirror as the console uses it; imported by code-editor.tsx when an editor is shown, and by nothing else. */
import { html } from '@codemirror/lang-html';
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { tags } from '@lezer/highlight';
import { basicSetup, EditorView } from 'codemirror';

interface EditorOptions {
  label: string;
  value: string;
  language: 'html' | 'text';
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

/** The colours of the page, which are readable in light and dark; CodeMirror's own are of light. */
const COLOURS = HighlightStyle.define([
  { tag: [tags.tagName, tags.keyword], color: 'var(--accent-text)' },
  { tag: [tags.attributeName, tags.propertyName], color: 'var(--warn)' },
  { tag: [tags.string, tags.attributeValue, tags.number, tags.color], color: 'var(--good)' },
  { tag: [tags.comment, tags.angleBracket, tags.meta], color: 'var(--muted)' },
  { tag: tags.invalid, color: 'var(--bad)' },
]);

/**
 * Typing over what is selected is done here: where the browser does it in coloured text, it keeps the colour by an inline style,
 * which the policy of the page refuses, and reports.
 */
const TYPING_OVER = EditorView.domEventHandlers({
  beforeinput(event, view) {
    const { data, inputType } = event;
    const { from, to, empty } = view.state.selection.main;
    if (inputType !== 'insertText' || !data || empty) return false;
    event.preventDefault();
    const insert = () =>
      view.state.update(view.state.replaceSelection(data), { userEvent: 'input.type', scrollIntoView: true });
    const handlers = view.state.facet(EditorView.inputHandler);
    if (!handlers.some((handle) => handle(view, from, to, data, insert))) view.dispatch(insert());
    return true;
  },
});

/** Opens an editor, which can be written into, and taken away again. */
export function openEditor(
  root: ShadowRoot,
  { label, value, language, onChange }: EditorOptions,
): { insert(text: string): void; destroy(): void } {
  const view = new EditorView({
    doc: value,
    root,
    parent: root,
    extensions: [
      basicSetup,
      language === 'html' ? html() : [],
      syntaxHighlighting(COLOURS),
      EditorView.lineWrapping,
      EditorView.contentAttributes.of({ 'aria-label': label }),
      LOOK,
      TYPING_OVER,
      EditorView.updateListener.of((update) => {
        if (update.docChanged) onChange(update.state.doc.toString());
      }),
    ],
  });
  return {
    insert(text) {
      view.dispatch(view.state.replaceSelection(text));
      view.focus();
    },
    destroy: () => view.destroy(),
  };
}
