// Marks search matches with the browser's CSS highlights, which does not change the DOM.

const highlightName = "lerim-found";
const maxHighlights = 2000;

/** Whether the text of an element contains the words, ignoring case. */
export function containsText(element: Element, searchText: string): boolean {
  return searchText !== "" && element.textContent.toLowerCase().includes(searchText.toLowerCase());
}

/** Highlights every match of the words below an element; "" clears the highlights. */
export function highlightMatches(container: Element, searchText: string): void {
  CSS.highlights.delete(highlightName);
  if (searchText === "") return;
  const needle = searchText.toLowerCase();
  const ranges: Range[] = [];
  const walker = document.createTreeWalker(container, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null && ranges.length < maxHighlights; node = walker.nextNode()) {
    const text = (node.nodeValue ?? "").toLowerCase();
    for (let at = text.indexOf(needle); at >= 0 && ranges.length < maxHighlights; at = text.indexOf(needle, at + needle.length)) {
      const range = new Range();
      range.setStart(node, Math.min(at, node.nodeValue?.length ?? 0));
      range.setEnd(node, Math.min(at + needle.length, node.nodeValue?.length ?? 0));
      ranges.push(range);
    }
  }
  CSS.highlights.set(highlightName, new Highlight(...ranges));
}
