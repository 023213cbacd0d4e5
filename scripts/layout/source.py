"""The modules of server/lerim, what each imports, and where imports go round."""
import ast, sys, json
from pathlib import Path
def modname(root, p):
    r=p.relative_to(root).with_suffix('')
    parts=list(r.parts)
    if parts[-1]=='__init__': parts.pop()
    return '.'.join(parts)
def load(root):
    root=Path(root)
    mods={}
    for p in sorted((root/'lerim').rglob('*.py')):
        mods[modname(root,p)]=p
    facts=[]
    for m,p in mods.items():
        t=ast.parse(p.read_text())
        for n in ast.walk(t):
            if isinstance(n,ast.ImportFrom):
                assert n.level==0,(m,n.lineno)
                if n.module and n.module.split('.')[0]=='lerim':
                    for a in n.names:
                        full=n.module+'.'+a.name
                        if full in mods: facts.append((m,n.lineno,full,None,a.asname))
                        else:
                            facts.append((m,n.lineno,n.module,a.name,a.asname))
            elif isinstance(n,ast.Import):
                for a in n.names:
                    if a.name.split('.')[0]=='lerim': facts.append((m,n.lineno,a.name,None,a.asname or '!plain'))
    return mods,facts
def sccs(g):
    import sys
    sys.setrecursionlimit(10000)
    idx={};low={};st=[];on=set();out=[];c=[0]
    def v(x):
        idx[x]=low[x]=c[0];c[0]+=1;st.append(x);on.add(x)
        for y in g.get(x,()):
            if y not in idx: v(y);low[x]=min(low[x],low[y])
            elif y in on: low[x]=min(low[x],idx[y])
        if low[x]==idx[x]:
            s=[]
            while True:
                y=st.pop();on.discard(y);s.append(y)
                if y==x:break
            if len(s)>1: out.append(s)
    for x in list(g): 
        if x not in idx: v(x)
    return out
