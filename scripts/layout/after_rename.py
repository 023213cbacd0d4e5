"""`python scripts/layout/after_rename.py REPO names.txt`: what rename.py leaves: names in `__all__` and the handlers in lsp/server.py."""
import ast,re,sys
from pathlib import Path
REPO=Path(sys.argv[1]); R={}
for l in open(sys.argv[2]):
    w=l.split()
    if len(w)==3 and l[0]!='#': R[(w[0],w[1])]=w[2]
S=REPO/'server'
for p in S.rglob('*.py'):
    t=p.read_text(); tree=ast.parse(t)
    m='.'.join(p.relative_to(S).with_suffix('').parts)
    names=set(); imps={}
    for n in tree.body:
        if isinstance(n,(ast.FunctionDef,ast.AsyncFunctionDef,ast.ClassDef)): names.add(n.name)
        if isinstance(n,ast.ImportFrom):
            for a in n.names: names.add(a.asname or a.name); imps[a.asname or a.name]=n.module
        if isinstance(n,(ast.Assign,ast.AnnAssign)):
            for x in (n.targets if isinstance(n,ast.Assign) else [n.target]):
                if isinstance(x,ast.Name): names.add(x.id)
    for n in tree.body:
        if isinstance(n,(ast.Assign,ast.AnnAssign)):
            x=(n.targets if isinstance(n,ast.Assign) else [n.target])[0]
            if isinstance(x,ast.Name) and x.id=='__all__':
                seg=ast.get_source_segment(t,n); new=seg
                for e in n.value.elts:
                    if e.value in names: continue
                    c=[nn for (mm,o),nn in R.items() if o==e.value and nn in names and (mm==m or imps.get(nn)==mm)]
                    if len(c)==1: new=new.replace(f'"{e.value}"',f'"{c[0]}"')
                    else: print(m,'__all__',e.value,c)
                t=t.replace(seg,new); p.write_text(t)
p=S/'lerim/lsp/server.py'; t=p.read_text()
t=re.sub(r'(RequestHandler\([^\n]*?, )"(\w+)", "(\w+)"',lambda k:f'{k[1]}"{k[2]}", "{R.get(("lerim.lsp."+k[2],k[3]),k[3])}"',t); p.write_text(t)
t=p.read_text()
t=re.sub(r'_lazy\("(\w+)", "(\w+)"\)',lambda k:f'_lazy("{k[1]}", "{R.get(("lerim.lsp."+k[1],k[2]),k[2])}")',t); p.write_text(t)
