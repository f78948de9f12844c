/** Listeners to what happens to objects, told in the transaction that records it. */
import type { Tx } from '../../platform/database/database.ts';
import type { NewObject } from './store.ts';

/** Nothing is told of objects that go with their project. */
export interface ObjectEvent {
  kind: 'created' | 'deleted';
  object: NewObject;
}
type ObjectListener = (tx: Tx, event: ObjectEvent) => void;

export class ObjectListeners {
  readonly #listeners: ObjectListener[] = [];

  add(listener: ObjectListener): void {
    this.#listeners.push(listener);
  }

  tell(tx: Tx, kind: ObjectEvent['kind'], object: NewObject): void {
    for (const listener of this.#listeners) listener(tx, { kind, object });
  }
}
