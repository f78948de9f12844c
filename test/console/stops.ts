/** The page by its keyboard: what has the focus, and going on to what is named; every stop on the way can be seen. */
import { expect } from 'bun:test';
import type { Page } from 'playwright-core';

interface Stop {
  name: string;
  /** What it is in: the dialog, the navigation, or what is behind them. */
  place: string;
  /** Whether one can see that it has the focus: it is within the window, and drawn otherwise than without. */
  is_seen: boolean;
}

/** What has the focus. */
export function readStop(page: Page): Promise<Stop> {
  return page.evaluate(`(() => {
    const element = document.activeElement;
    const look = () => { const { outlineStyle, outlineWidth, boxShadow, borderColor } = getComputedStyle(element); return [outlineStyle, outlineWidth, boxShadow, borderColor].join(); };
    const { top, left, bottom, right, width, height } = element.getBoundingClientRect();
    const focused = look();
    element.blur();
    const is_drawn = look() !== focused;
    element.focus();
    return {
      name: (element.getAttribute('aria-label') ?? (element.labels?.[0] ?? element).textContent).trim(),
      place: element.closest('dialog') ? 'dialog' : element.closest('#navigation') ? 'navigation' : element.tagName,
      is_seen: is_drawn && width > 0 && height > 0 && bottom > 0 && right > 0 && top < innerHeight && left < innerWidth,
    };
  })()`);
}

/** Tabs until what is named has the focus; every stop on the way can be seen. Returns their names. */
export async function tabTo(page: Page, name: string): Promise<string[]> {
  const passed: string[] = [];
  while (passed.at(-1) !== name) {
    if (passed.length > 60) throw new Error(`${name} is not reached: ${passed.join(', ')}`);
    await page.keyboard.press('Tab');
    const stop = await readStop(page);
    expect(stop).toEqual({ ...stop, is_seen: true });
    passed.push(stop.name);
  }
  return passed;
}
