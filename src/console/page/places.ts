/** The last pages that a person saw in this browser, for the search to offer; gone once they sign out. */

export interface Place {
  /** A path below /console. */
  path: string;
  title: string;
}

const KEPT = 8;
const keyOf = (person_id: number): string => `satchel.places.${person_id}`;

/** The last first. */
export function lastPlaces(person_id: number): Place[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(keyOf(person_id)) ?? '[]');
    return Array.isArray(kept) ? kept.filter(isPlace) : [];
  } catch {
    return [];
  }
}

function isPlace(value: unknown): value is Place {
  const { path, title } = (value ?? {}) as Partial<Place>;
  return typeof path === 'string' && typeof title === 'string';
}

/** A page is there, or has another title by now. */
export function notePlace(person_id: number, place: Place): void {
  const others = lastPlaces(person_id).filter(({ path }) => path !== place.path);
  localStorage.setItem(keyOf(person_id), JSON.stringify([place, ...others].slice(0, KEPT + 1)));
}

export function forgetPlaces(person_id: number): void {
  localStorage.removeItem(keyOf(person_id));
}
