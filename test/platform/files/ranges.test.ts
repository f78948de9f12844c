// Conditional and range requests: which status and which bytes a set of headers leads to.
import { describe, expect, test } from 'bun:test';
import { evaluateRequest, type RangeVerdict } from '../../../src/platform/files/ranges.ts';

const ETAG = `"${'ab'.repeat(32)}"`;
const MODIFIED_MS = Date.UTC(2030, 0, 31, 9, 0, 0, 700);
const MODIFIED = 'Thu, 31 Jan 2030 09:00:00 GMT';
const EARLIER = 'Thu, 31 Jan 2030 08:59:59 GMT';
const LATER = 'Thu, 31 Jan 2030 09:00:01 GMT';

function ask(headers: Record<string, string>, size_bytes = 1000, method = 'GET'): RangeVerdict {
  return evaluateRequest({
    method,
    headers: new Headers(headers),
    etag: ETAG,
    last_modified_ms: MODIFIED_MS,
    size_bytes,
  });
}

function statusOf(headers: Record<string, string>, method = 'GET'): number {
  return ask(headers, 1000, method).status;
}

describe('conditional requests', () => {
  test.each([
    ['no condition', {}, 200],
    ['If-None-Match with the tag', { 'If-None-Match': ETAG }, 304],
    ['If-None-Match with the tag as weak', { 'If-None-Match': `W/${ETAG}` }, 304],
    ['If-None-Match with a list that has the tag', { 'If-None-Match': `"a,b", W/"c" , ${ETAG}` }, 304],
    ['If-None-Match with *', { 'If-None-Match': '*' }, 304],
    ['If-None-Match with another tag', { 'If-None-Match': '"other"' }, 200],
    ['If-None-Match with the tag but no quotes', { 'If-None-Match': 'ab'.repeat(32) }, 200],
    ['If-Match with the tag', { 'If-Match': `"x", ${ETAG}` }, 200],
    ['If-Match with *', { 'If-Match': '*' }, 200],
    ['If-Match with the tag as weak', { 'If-Match': `W/${ETAG}` }, 412],
    ['If-Match with another tag', { 'If-Match': '"other"' }, 412],
    ['If-Modified-Since the very second', { 'If-Modified-Since': MODIFIED }, 304],
    ['If-Modified-Since later', { 'If-Modified-Since': LATER }, 304],
    ['If-Modified-Since earlier', { 'If-Modified-Since': EARLIER }, 200],
    [
      'If-Modified-Since in the form of RFC 850',
      { 'If-Modified-Since': 'Thursday, 31-Jan-30 09:00:00 GMT' },
      304,
    ],
    ['If-Modified-Since in the form of asctime', { 'If-Modified-Since': 'Thu Jan 31 09:00:00 2030' }, 304],
    ['If-Modified-Since that is no HTTP date', { 'If-Modified-Since': '2031-01-31T09:00:00Z' }, 200],
    ['If-Unmodified-Since the very second', { 'If-Unmodified-Since': MODIFIED }, 200],
    ['If-Unmodified-Since earlier', { 'If-Unmodified-Since': EARLIER }, 412],
    [
      'another If-None-Match beside If-Modified-Since',
      { 'If-None-Match': '"x"', 'If-Modified-Since': LATER },
      200,
    ],
    ['If-Match beside If-Unmodified-Since', { 'If-Match': ETAG, 'If-Unmodified-Since': EARLIER }, 200],
    [
      'If-Match that fails beside If-None-Match that matches',
      { 'If-Match': '"x"', 'If-None-Match': ETAG },
      412,
    ],
    ['a matching If-None-Match beside a range', { 'If-None-Match': ETAG, Range: 'bytes=0-1' }, 304],
  ] satisfies [string, Record<string, string>, number][])('%s', (_, headers, status) => {
    expect(statusOf(headers)).toBe(status);
  });

  test('HEAD is answered like GET, but a range means nothing to it', () => {
    expect(statusOf({ 'If-None-Match': ETAG }, 'HEAD')).toBe(304);
    expect(ask({ Range: 'bytes=5-9' }, 1000, 'HEAD')).toEqual({ status: 200, start: 0, end: 1000 });
  });

  test('a matching If-None-Match on a method that changes things is a failed precondition', () => {
    expect(statusOf({ 'If-None-Match': ETAG }, 'DELETE')).toBe(412);
    expect(statusOf({ 'If-Modified-Since': LATER }, 'DELETE')).toBe(200);
  });
});

describe('ranges', () => {
  test.each([
    ['bytes=0-0', 0, 1],
    ['bytes=0-499', 0, 500],
    ['bytes=500-', 500, 1000],
    ['bytes=999-999', 999, 1000],
    ['bytes=990-5000', 990, 1000],
    ['bytes=-10', 990, 1000],
    ['bytes=-5000', 0, 1000],
    ['bytes=0-99999999999999999999999', 0, 1000],
    ['Bytes=0-9', 0, 10],
  ])('%s is that part', (range, start, end) => {
    expect(ask({ Range: range })).toEqual({ status: 206, start, end });
  });

  test.each(['bytes=1000-', 'bytes=1000-1001', 'bytes=-0', 'bytes=99999999999999999999-'])(
    '%s cannot be satisfied',
    (range) => {
      expect(ask({ Range: range }).status).toBe(416);
    },
  );

  test.each([
    'bytes=0-1,5-9',
    'bytes=5-1',
    'bytes=-',
    'bytes=a-b',
    'bytes=0x1-2',
    'bytes 0-1',
    'items=0-1',
    '',
    'bytes=1--2',
    // Blanks there would have to be tried on both sides of what is no number.
    'bytes=0 - 1',
  ])('%p is answered with the whole', (range) => {
    expect(ask({ Range: range })).toEqual({ status: 200, start: 0, end: 1000 });
  });

  test('a range of an empty file cannot be satisfied, the whole of it can', () => {
    for (const range of ['bytes=0-', 'bytes=-5', 'bytes=0-0']) {
      expect(ask({ Range: range }, 0).status).toBe(416);
    }
    expect(ask({}, 0)).toEqual({ status: 200, start: 0, end: 0 });
  });

  test.each([
    ['the tag', ETAG, 206],
    ['another tag', '"other"', 200],
    ['the tag as weak', `W/${ETAG}`, 200],
    ['the very date', MODIFIED, 206],
    ['an earlier date', EARLIER, 200],
    ['a later date', LATER, 200],
    ['nonsense', 'yesterday', 200],
  ])('If-Range with %s', (_, if_range, status) => {
    expect(statusOf({ Range: 'bytes=0-9', 'If-Range': if_range })).toBe(status);
  });
});
